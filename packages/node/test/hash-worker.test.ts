import assert from "node:assert/strict";
import { test } from "node:test";
import { startHashWorker, type ThreadData } from "../src/pow/hash-worker.ts";
import type { ThreadResult } from "../src/pow/messages.ts";

/** A thread started with this data, and what its owner hears of it. */
function watchedWorker(data: ThreadData) {
  const results: ThreadResult[] = [];
  const reasons: string[] = [];
  let hear = (): void => {};
  const worker = startHashWorker(data, {
    onResult: (result) => {
      results.push(result);
      hear();
    },
    onLost: (reason) => {
      reasons.push(reason);
      hear();
    },
  });
  const heard = () =>
    new Promise<void>((resolve) => {
      hear = resolve;
    });
  return { worker, results, reasons, heard };
}

const settings = { threads: 1, engine: "portable", disabledFlags: 0 } as const;

test("a thread answers task by task, also one that it fails in, and ends after the last when it is told to", async () => {
  const { worker, results, reasons, heard } = watchedWorker({ settings, isProcessForHashing: false });
  const blob = new Uint8Array(76).fill(1);
  worker.send({
    type: "hash",
    work: { blob, height: 1, majorVersion: 1, seedId: undefined },
    source: undefined,
  });
  await heard();
  assert.equal(results[0]!.type, "hashed");
  worker.send({ type: "hash", work: { blob, height: 1, majorVersion: 12, seedId: blob }, source: "missing" });
  await heard();
  assert.equal(results[1]!.type, "failed");
  worker.send({
    type: "hash",
    work: { blob, height: 1, majorVersion: 1, seedId: undefined },
    source: undefined,
  });
  await worker.end();
  assert.deepEqual([results.length, results[2]], [3, results[0]]);
  assert.equal(reasons.length, 1, "that it has ended is told as any end");
});

test("a thread that cannot start is lost, which is told once with the reason", async () => {
  const { worker, results, reasons, heard } = watchedWorker(undefined as unknown as ThreadData);
  await heard();
  await worker.end();
  assert.deepEqual(results, []);
  assert.equal(reasons.length, 1);
  assert.match(reasons[0]!, /TypeError/);
});
