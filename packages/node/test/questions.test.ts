/** What becomes of questions to the process that hashes when it ends by itself. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { PowQuestion } from "../src/pow/messages.ts";
import type { PowChildOptions } from "../src/pow/pow-child.ts";
import { createQuestions } from "../src/pow/questions.ts";

const work = { blob: new Uint8Array(76), height: 1, majorVersion: 1, seedId: undefined };
const question = (id: number) => ({ type: "hash", id, work }) as const;

/** Questions to processes that do nothing by themselves. */
function start() {
  const processes: { readonly asked: number[]; readonly options: PowChildOptions }[] = [];
  const questions = createQuestions({
    settings: () => ({ threads: 1, engine: "portable", disabledFlags: 0 }),
    onEngine() {},
    onDataset() {},
    idleMs: 1000,
    start(options) {
      const asked: number[] = [];
      processes.push({ asked, options });
      return {
        send: (sent: PowQuestion) => void ("id" in sent && asked.push(sent.id)),
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
