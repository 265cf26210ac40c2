import assert from "node:assert/strict";
import type { ChildProcess } from "node:child_process";
import { EventEmitter } from "node:events";
import { test } from "node:test";
import { startPowChild } from "../src/pow/pow-child.ts";
import { createQuestions } from "../src/pow/questions.ts";

/** A process that is there but does nothing; what it was sent fails with `fault`, if there is one. */
function fakeProcess(pid: number | undefined, fault: Error | null = null) {
  const signals: string[] = [];
  const emitter = Object.assign(new EventEmitter(), {
    pid,
    send: (_: unknown, sent: (error: Error | null) => void) => sent(fault),
    kill: (signal: string) => signals.push(signal),
  });
  return { emitter, signals, child: emitter as unknown as ChildProcess };
}

const settings = { threads: 1, engine: undefined, disabledFlags: 0 } as const;
const question = { type: "abandon", id: 1 } as const;

function watch({ child }: { readonly child: ChildProcess }) {
  let deaths = 0;
  const started = startPowChild({ settings, onAnswer: () => {}, onExit: () => deaths++ }, () => child);
  return { started, deaths: () => deaths };
}

test("a fault of a process that lives is not its death", () => {
  const fake = fakeProcess(77);
  const { deaths } = watch(fake);
  fake.emitter.emit("error", new Error("the kill failed"));
  assert.equal(deaths(), 0);
  fake.emitter.emit("exit");
  assert.equal(deaths(), 1);
});

test("a process that cannot be spoken to is ended, and dies once", () => {
  const fake = fakeProcess(77, new Error("EPIPE"));
  const { started, deaths } = watch(fake);
  started.send(question);
  assert.deepEqual(fake.signals, ["SIGKILL"]);
  assert.equal(deaths(), 0);
  fake.emitter.emit("exit");
  fake.emitter.emit("exit");
  assert.equal(deaths(), 1);
});

test("a process that could not be started is dead", () => {
  const fake = fakeProcess(undefined);
  const { deaths } = watch(fake);
  fake.emitter.emit("error", new Error("no such program"));
  assert.equal(deaths(), 1);
});

test("where the system has no descriptors or no memory for a process, what is asked of it fails", async () => {
  const withoutDescriptors = () => {
    const fake = fakeProcess(undefined);
    setImmediate(() => fake.emitter.emit("error", new Error("EMFILE")));
    return Object.assign(fake.child, { send: undefined, ref() {}, unref() {} }) as unknown as ChildProcess;
  };
  const withoutMemory = () => {
    throw new Error("ENOMEM");
  };
  for (const spawn of [withoutDescriptors, withoutMemory]) {
    let starts = 0;
    const questions = createQuestions({
      settings: () => settings,
      start: (options) => {
        starts++;
        return startPowChild(options, spawn);
      },
      onEngine() {},
      onDataset() {},
      idleMs: 1,
    });
    const search = (id: number) => ({ type: "search", id }) as Parameters<typeof questions.ask>[0];
    const asked = [1, 2, 3].map((id) => questions.ask(search(id)));
    for (const each of asked) await assert.rejects(each, /process ended/);
    const before = starts;
    assert.ok(before >= 2 && before <= 4, `${before} starts`);
    // Later ones try again.
    await assert.rejects(questions.ask(search(4)), /process ended/);
    assert.ok(starts > before);
    await questions.stop();
  }
});

test("a process that could not be started and is not wanted any more reports no end", async () => {
  let ends = 0;
  const start = () =>
    startPowChild({ settings, onAnswer: () => {}, onExit: () => ends++ }, () => {
      throw new Error("ENOMEM");
    });
  start().disconnect();
  await start().kill();
  await new Promise((resolve) => setImmediate(resolve));
  assert.equal(ends, 0);
});
