/** Hashing in the node's own process: on the pool of Node.js, and beside it on threads, all of which end with it. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Worker } from "node:worker_threads";
import type { PowAnswer } from "../src/pow/messages.ts";
import { startPowHere } from "../src/pow/pow-here.ts";

const work = { blob: new Uint8Array(76).fill(1), height: 1, majorVersion: 1, seedId: undefined };

/** Two workers are on the pool of Node.js, further ones are threads. */
const THREADS = 4;

test("who hashes here answers each question, and when it is ended no thread is left", async () => {
  const threads: Worker[] = [];
  const note = (thread: Worker) => void threads.push(thread);
  process.on("worker", note);
  const answers: PowAnswer[] = [];
  let hear = (): void => {};
  const heardAll = new Promise<void>((resolve) => {
    hear = resolve;
  });
  const pow = startPowHere({
    settings: { threads: THREADS, engine: "portable", disabledFlags: 0 },
    onAnswer(answer) {
      answers.push(answer);
      if (answers.length === THREADS) hear();
    },
  });
  try {
    for (let id = 0; id < THREADS; id++) pow.send({ type: "hash", id, work });
    await heardAll;
    assert.deepEqual(answers.map((answer) => "id" in answer && answer.id).sort(), [0, 1, 2, 3]);
    // The pool hashes RandomX alone, and nobody here has its library.
    assert.deepEqual(answers.map(({ type }) => type).sort(), ["failed", "failed", "hashed", "hashed"]);
    const reasons = answers.flatMap((answer) => (answer.type === "failed" ? [answer.reason] : []));
    assert.deepEqual(new Set(reasons), new Set(["RandomX needs a seed"]));
    assert.equal(threads.length, THREADS - 2);
    assert.ok(threads.every(({ threadId }) => threadId !== -1));
    await pow.kill();
    assert.ok(
      threads.every(({ threadId }) => threadId === -1),
      "a thread that has ended has no number",
    );
    pow.send({ type: "hash", id: THREADS, work });
    await new Promise((resolve) => setImmediate(resolve));
    assert.equal(answers.length, THREADS, "nothing is answered after the end");
  } finally {
    process.off("worker", note);
    for (const thread of threads) await thread.terminate();
  }
});
