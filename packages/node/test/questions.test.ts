/** What becomes of questions to the process that hashes when it ends by itself. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout } from "node:timers/promises";
import type { PowQuestion } from "../src/pow/messages.ts";
import type { PowChildOptions } from "../src/pow/pow-child.ts";
import { createQuestions } from "../src/pow/questions.ts";

const work = { blob: new Uint8Array(76), height: 1, majorVersion: 1, seedId: undefined };
const question = (id: number) => ({ type: "hash", id, work }) as const;

/** Questions to processes that do nothing by themselves. */
function start({ idleMs = 1000 } = {}) {
  const processes: {
    readonly asked: number[];
    readonly seeds: unknown[];
    readonly options: PowChildOptions;
  }[] = [];
  const questions = createQuestions({
    settings: () => ({ threads: 1, engine: "portable", disabledFlags: 0 }),
    onEngine() {},
    onDataset() {},
    idleMs,
    start(options) {
      const asked: number[] = [];
      const seeds: unknown[] = [];
      processes.push({ asked, seeds, options });
      return {
        send: (sent: PowQuestion) => void ("id" in sent ? asked.push(sent.id) : seeds.push(sent)),
        holdNode() {},
        disconnect() {},
        kill: async () => {},
      };
    },
  });
  return { questions, processes, asked: () => processes.map(({ asked }) => asked) };
}

test("what a process did not answer before it ended is asked of the next, and so is what comes then", async () => {
  const { questions, processes, asked } = start();
  const [first, second] = [questions.ask(question(1)), questions.ask(question(2))];
  const hash = new Uint8Array(32).fill(1);
  processes[0]!.options.onAnswer({ type: "hashed", id: 2, hash });
  assert.deepEqual(await second, { type: "hashed", id: 2, hash });
  processes[0]!.options.onExit();
  assert.deepEqual(asked(), [[1, 2], [1]]);
  const third = questions.ask(question(3));
  assert.deepEqual(asked(), [
    [1, 2],
    [1, 3],
  ]);
  for (const id of [1, 3]) processes[1]!.options.onAnswer({ type: "hashed", id, hash });
  assert.deepEqual(await Promise.all([first, third]), [
    { type: "hashed", id: 1, hash },
    { type: "hashed", id: 3, hash },
  ]);
  await questions.stop();
});

test("a question over which two processes have ended is refused, and others are not", async () => {
  const { questions, processes, asked } = start();
  const failing = questions.ask(question(1));
  const refused = assert.rejects(failing, /the hashing process ended/);
  processes[0]!.options.onExit();
  const later = questions.ask(question(2));
  processes[1]!.options.onExit();
  await refused;
  assert.deepEqual(asked(), [[1], [1, 2], [2]]);
  processes[2]!.options.onAnswer({ type: "failed", id: 2, reason: "no seed" });
  await assert.rejects(later, /no seed/);
  const open = questions.ask(question(3));
  const stopped = assert.rejects(open, /has been stopped/);
  await questions.stop();
  await stopped;
  await assert.rejects(questions.ask(question(4)), /has been stopped/);
});

test("where questions are given up together, no further process is started for them", async () => {
  const { questions, processes } = start();
  const refused = [1, 2, 3].map((id) =>
    assert.rejects(questions.ask(question(id)), /the hashing process ended/),
  );
  processes[0]!.options.onExit();
  processes[1]!.options.onExit();
  await Promise.all(refused);
  assert.equal(processes.length, 2);
  await questions.stop();
});

test("a process is sent 64 questions, and its end is none of the fault of those that waited", async () => {
  const { questions, processes, asked } = start();
  const ids = Array.from({ length: 65 }, (_, id) => id);
  const all = ids.map((id) => questions.ask(question(id)));
  const refused = Promise.all(all.slice(0, 64).map((each) => assert.rejects(each, /process ended/)));
  processes[0]!.options.onExit();
  processes[1]!.options.onExit();
  await refused;
  const sent = ids.slice(0, 64);
  assert.deepEqual(asked(), [sent, sent, [64]]);
  processes[2]!.options.onExit();
  assert.deepEqual(asked().at(-1), [64]);
  const answer = { type: "hashed", id: 64, hash: new Uint8Array(32) } as const;
  processes[3]!.options.onAnswer(answer);
  assert.deepEqual(await all[64], answer);
  await questions.stop();
});

// Closes: after a quiet spell the cache in use could be replaced by that of an old branch, and the next was not made.
test("a process that replaces an idle one knows the seeds in use", async () => {
  const { questions, processes } = start({ idleMs: 0 });
  const seeds = { type: "seeds", current: new Uint8Array(32).fill(1), next: undefined } as const;
  const answer = { type: "hashed", hash: new Uint8Array(32) } as const;
  const first = questions.ask(question(1));
  questions.useSeeds(seeds);
  processes[0]!.options.onAnswer({ ...answer, id: 1 });
  await first;
  while (processes.length < 2) {
    // The idle process ends in a turn of its own.
    await setTimeout(1);
    const id = processes[0]!.asked.length + 1;
    const next = questions.ask(question(id));
    processes.at(-1)!.options.onAnswer({ ...answer, id });
    await next;
  }
  assert.deepEqual(
    processes.map((process) => process.seeds),
    [[seeds], [seeds]],
  );
  await questions.stop();
});
