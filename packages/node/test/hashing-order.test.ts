import assert from "node:assert/strict";
import { test } from "node:test";
import type { RandomXCache } from "@anulo/crypto";
import type { MakeOptions } from "../src/pow/datasets.ts";
import type { PowAnswer, SeedSource, ThreadMessage, ThreadResult, ThreadTask } from "../src/pow/messages.ts";
import { createScheduler, type ThreadOwner } from "../src/pow/scheduler.ts";

const seed = (byte: number) => new Uint8Array(32).fill(byte);
const fakeCache = { items: undefined } as unknown as RandomXCache;
const blob = new Uint8Array(76);
const nonce = { nonce: 7, hash: new Uint8Array(32) };

/** A thread whose tasks are answered by the test. */
interface FakeThread {
  readonly owner: ThreadOwner;
  readonly sent: ThreadMessage[];
  task: ThreadTask | undefined;
}

function createStage(threads: number) {
  const started: FakeThread[] = [];
  const answers: PowAnswer[] = [];
  const datasets: {
    readonly options: MakeOptions;
    resolve(source: SeedSource): void;
    reject(error: Error): void;
  }[] = [];
  const freed: SeedSource[] = [];
  let time = 0;
  const scheduler = createScheduler({
    threads,
    engine: "portable",
    now: () => time,
    answer: (answer) => void answers.push(answer),
    datasets: {
      make: (_, options) => new Promise((resolve, reject) => datasets.push({ options, resolve, reject })),
      free: async (source) => void freed.push(source),
    },
    createThread(owner) {
      const thread: FakeThread = { owner, sent: [], task: undefined };
      started.push(thread);
      return {
        send(message) {
          thread.sent.push(message);
          if (message.type !== "take" && message.type !== "drop") thread.task = message;
        },
      };
    },
  });
  const finish = (thread: FakeThread, result: ThreadResult) => {
    thread.task = undefined;
    thread.owner.onResult(result);
  };
  return {
    started,
    answers,
    datasets,
    freed,
    ask: scheduler.ask,
    finish,
    made: (thread: FakeThread) => finish(thread, { type: "made", source: fakeCache }),
    hashed: (thread: FakeThread) => finish(thread, { type: "hashed", hash: blob }),
    passTime: (ms: number) => {
      time += ms;
    },
  };
}

const taskOf = ({ task }: FakeThread): string | undefined => task?.type;

const work = (byte: number) => ({ blob, height: 1, majorVersion: 16, seedId: seed(byte) });
const seedsMade = (threads: readonly FakeThread[]) =>
  threads.flatMap(({ sent }) => sent.flatMap((task) => (task.type === "make" ? [task.seedId[0]] : [])));

test("a seed is made once, whatever waits for it, and other work goes on meanwhile", () => {
  const stage = createStage(2);
  for (const id of [1, 2, 3]) stage.ask({ type: "hash", id, work: work(1) });
  stage.ask({ type: "hash", id: 4, work: { ...work(1), majorVersion: 1, seedId: undefined } });
  assert.deepEqual(seedsMade(stage.started), [1]);
  const [first, second] = stage.started;
  assert.equal(second?.task?.type, "hash");
  stage.made(first!);
  assert.equal(first!.task?.type, "hash");
  stage.hashed(second!);
  stage.hashed(first!);
  assert.deepEqual(first!.sent.filter(({ type }) => type === "take").length, 1);
  assert.deepEqual(
    stage.answers.map((answer) => (answer.type === "hashed" ? answer.id : 0)),
    [4, 1],
  );
});

test("blocks of three seeds in turn make each cache once, not with every block; the seed in use stays", () => {
  const stage = createStage(1);
  stage.ask({ type: "seeds", current: seed(1), next: undefined });
  for (let id = 0; id < 12; id++) stage.ask({ type: "hash", id, work: work(1 + (id % 3)) });
  const [thread] = stage.started;
  for (let i = 0; i < 40 && thread!.task !== undefined; i++) {
    if (thread!.task.type === "make") stage.made(thread!);
    else stage.hashed(thread!);
  }
  assert.equal(stage.answers.length, 12);
  assert.deepEqual(seedsMade(stage.started), [1, 2, 3]);
  assert.deepEqual(
    thread!.sent.flatMap((message) => (message.type === "drop" ? [message.name.slice(0, 2)] : [])),
    ["02"],
  );
});

// Closes a class of standstills: caches that took each other's place, none of them ever used.
test("where making a cache outlasts the patience for the next, each is used before it is replaced", () => {
  for (const threads of [1, 2]) {
    const stage = createStage(threads);
    stage.ask({ type: "seeds", current: seed(9), next: undefined });
    for (let id = 0; id < 20; id++) stage.ask({ type: "hash", id, work: work(1 + Math.floor(id / 4)) });
    for (let i = 0; i < 200 && stage.answers.length < 20; i++) {
      const thread = stage.started.find(({ task }) => task !== undefined);
      stage.passTime(thread?.task?.type === "make" ? 3000 : 10);
      if (thread?.task?.type === "make") stage.made(thread);
      else if (thread !== undefined) stage.hashed(thread);
    }
    assert.equal(stage.answers.length, 20);
    assert.deepEqual(seedsMade(stage.started), [1, 2, 3, 4, 5]);
  }
});

test("work of another seed that has waited long enough goes first", () => {
  const stage = createStage(1);
  stage.ask({ type: "hash", id: 1, work: work(1) });
  const [thread] = stage.started;
  stage.made(thread!);
  stage.ask({ type: "hash", id: 2, work: work(2) });
  stage.ask({ type: "hash", id: 3, work: work(1) });
  stage.ask({ type: "hash", id: 4, work: work(1) });
  stage.hashed(thread!);
  assert.deepEqual(seedsMade(stage.started), [1]);
  stage.passTime(3000);
  stage.hashed(thread!);
  assert.deepEqual(seedsMade(stage.started), [1, 2]);
});

test("the next seed is made when there is nothing else to do", () => {
  const stage = createStage(1);
  stage.ask({ type: "hash", id: 1, work: work(1) });
  stage.ask({ type: "seeds", current: seed(1), next: seed(2) });
  const [thread] = stage.started;
  stage.made(thread!);
  assert.equal(taskOf(thread!), "hash");
  stage.hashed(thread!);
  assert.deepEqual(seedsMade(stage.started), [1, 2]);
});

test("a cache that nobody has used for a minute is freed, but for the one in use and the next one", () => {
  const stage = createStage(2);
  const freed = () => stage.started.flatMap(({ sent }) => sent.filter(({ type }) => type === "free"));
  stage.ask({ type: "seeds", current: seed(1), next: seed(2) });
  stage.ask({ type: "hash", id: 1, work: work(1) });
  const [first, second] = stage.started;
  stage.made(first!);
  stage.made(second!);
  stage.hashed(first!);
  stage.passTime(100_000);
  stage.ask({ type: "hash", id: 2, work: work(2) });
  stage.hashed(first!);
  assert.deepEqual(freed(), []);
  stage.passTime(30_000);
  stage.ask({ type: "seeds", current: seed(2), next: undefined });
  assert.deepEqual(freed(), [{ type: "free", source: fakeCache }]);
  assert.deepEqual(first!.sent.filter(({ type }) => type === "drop").length, 1);
  stage.finish(first!, { type: "freed" });
  stage.ask({ type: "hash", id: 3, work: work(2) });
  assert.equal(taskOf(first!), "hash");
});

test("a seed that cannot be made fails what needs it, and nothing else", () => {
  const stage = createStage(1);
  stage.ask({ type: "hash", id: 1, work: work(1) });
  stage.ask({ type: "hash", id: 2, work: { ...work(1), majorVersion: 1, seedId: undefined } });
  const [thread] = stage.started;
  stage.finish(thread!, { type: "failed", reason: "no memory" });
  stage.hashed(thread!);
  assert.deepEqual(
    stage.answers.map(({ type }) => type),
    ["failed", "hashed"],
  );
});

test("a thread that is lost fails its task alone, and is replaced", () => {
  const stage = createStage(1);
  stage.ask({ type: "hash", id: 1, work: work(1) });
  const [thread] = stage.started;
  stage.made(thread!);
  stage.ask({ type: "hash", id: 2, work: work(1) });
  thread!.owner.onLost("gone");
  assert.equal(stage.started.length, 2);
  stage.hashed(stage.started[1]!);
  assert.deepEqual(
    stage.answers.map(({ type }) => type),
    ["failed", "hashed"],
  );
  assert.equal(stage.started[1]!.sent.filter(({ type }) => type === "take").length, 1);
});

test("blocks to verify go before a search, which rests when it is sent to", () => {
  const stage = createStage(1);
  const old = { blob, height: 1, majorVersion: 1, seedId: undefined };
  const search = { ...old, difficulty: 5n, nonceOffset: 39, firstNonce: 0, restMs: 100 };
  stage.ask({ type: "search", id: 1, search });
  const [thread] = stage.started;
  stage.ask({ type: "hash", id: 2, work: old });
  stage.finish(thread!, { type: "tried", hashes: 1, nonce: undefined });
  assert.equal(taskOf(thread!), "hash");
  stage.hashed(thread!);
  assert.equal(taskOf(thread!), undefined);
  stage.passTime(101);
  stage.ask({ type: "hash", id: 3, work: old });
  stage.hashed(thread!);
  assert.equal(taskOf(thread!), "try");
  stage.finish(thread!, { type: "tried", hashes: 1, nonce });
  assert.deepEqual(stage.answers.at(-1), { type: "searched", id: 1, nonce });
});

test("a long search has a dataset made, hashes with the cache until then, and lets go of it for another seed", async () => {
  const stage = createStage(1);
  const search = { ...work(1), difficulty: 5n, nonceOffset: 39, firstNonce: 0, isLong: true };
  stage.ask({ type: "search", id: 1, search });
  const [thread] = stage.started;
  stage.made(thread!);
  assert.ok(thread!.task?.type === "try" && thread!.task.source?.length === 64);
  const dataset = { key: seed(1) } as unknown as SeedSource;
  stage.datasets[0]!.resolve(dataset);
  await Promise.resolve();
  await Promise.resolve();
  stage.finish(thread!, { type: "tried", hashes: 1, nonce: undefined });
  assert.ok(thread!.task?.type === "try" && thread!.task.source?.endsWith("dataset"));
  stage.ask({ type: "abandon", id: 1 });
  stage.ask({ type: "search", id: 2, search: { ...search, seedId: seed(2) } });
  stage.finish(thread!, { type: "tried", hashes: 1, nonce: undefined });
  stage.made(thread!);
  assert.equal(stage.datasets.length, 2);
  assert.deepEqual(stage.freed, [dataset]);
  const states = stage.answers.flatMap((answer) => (answer.type === "dataset" ? [answer.state] : []));
  assert.deepEqual(states, ["begun", "ready", "let go", "begun"]);
  stage.datasets[1]!.reject(new Error("no memory"));
});

test("a search has as many threads as it asks for, others those for verification", () => {
  const old = { blob, height: 1, majorVersion: 1, seedId: undefined };
  const search = { ...old, difficulty: 5n, nonceOffset: 39, firstNonce: 0 };
  const startedFor = (...threads: (number | undefined)[]) => {
    const stage = createStage(2);
    for (const [id, count] of threads.entries())
      stage.ask({ type: "search", id, search: { ...search, threads: count } });
    return stage.started.length;
  };
  assert.deepEqual(
    [startedFor(undefined), startedFor(1), startedFor(4), startedFor(undefined, 3)],
    [2, 1, 4, 3],
  );
});
