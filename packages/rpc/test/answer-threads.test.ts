/** Which thread answers a request, and what happens when one fails: with workers that only record what they are sent. */
import assert from "node:assert/strict";
import { EventEmitter } from "node:events";
import { test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import type { Worker } from "node:worker_threads";
import { daemon } from "../src/index.ts";
import type { Answer } from "../src/server/answer.ts";
import type { CallEnd } from "../src/server/call.ts";
import { CallerLeft } from "../src/server/request-budget.ts";
import {
  type AnswerThreadsOptions,
  type CallRequest,
  createAnswerThreads,
} from "../src/server/threads/answer-threads.ts";
import type { MessageToThread, TaskResult, ThreadTask } from "../src/server/threads/messages.ts";

class RecordingWorker extends EventEmitter {
  readonly messages: MessageToThread[] = [];
  keepsProcess = true;
  /** Whether it ends as soon as it is told to. */
  endsAtOnce = true;

  postMessage(message: MessageToThread): void {
    this.messages.push(message);
    if (message === "end" && this.endsAtOnce) this.emit("exit", 0);
  }

  ref(): void {
    this.keepsProcess = true;
  }

  unref(): void {
    this.keepsProcess = false;
  }

  get tasks(): ThreadTask[] {
    return this.messages.filter(
      (message): message is ThreadTask => typeof message === "object" && "body" in message,
    );
  }

  /** Sends the result of a task; without bytes, there is no response. */
  end({ id }: ThreadTask, bytes?: string, notes: unknown[] = []): void {
    const response =
      bytes === undefined
        ? undefined
        : {
            type: "application/json" as const,
            bytes: new Uint8Array(Buffer.from(bytes)),
            seconds: 0.25,
            notes,
          };
    this.emit("message", { id, milliseconds: 7, response } satisfies TaskResult);
  }
}

const HERE: Answer = { status: 200, type: "text/plain", body: "here" };
const here = () => HERE;

function scene(options: Partial<AnswerThreadsOptions> = {}) {
  const workers: RecordingWorker[] = [];
  const notes: unknown[] = [];
  const errors: unknown[] = [];
  const threads = createAnswerThreads({
    maxThreads: 1,
    costOf: ({ params }) => params as number | undefined,
    facts: () => "facts",
    onNote: (note) => notes.push(note),
    startWorker: () => {
      workers.push(new RecordingWorker());
      return workers.at(-1) as unknown as Worker;
    },
    now: () => 0,
    log: { error: (_: string, fields: object) => errors.push(fields) } as never,
    ...options,
  });
  return { threads, workers, notes, errors };
}

interface Sender {
  readonly controller?: AbortController;
  readonly onWork?: (milliseconds: number) => void;
  readonly bearer?: object;
  readonly isRefused?: boolean;
  /** Its response waits for memory until then. */
  readonly admitted?: Promise<void>;
  readonly restricted?: boolean;
  /** Called when memory for a copy of its body is reserved (true) or released. */
  readonly onCopy?: (isThere: boolean) => void;
}

/** A request that costs so many milliseconds. */
function request(costMs: number | undefined, sender: Sender = {}): CallRequest {
  const {
    controller = new AbortController(),
    onWork = () => {},
    bearer,
    isRefused = false,
    admitted,
  } = sender;
  const { restricted = true, onCopy = () => {} } = sender;
  const { signal } = controller;
  const caller = {
    signal,
    onWork,
    get isGone() {
      return signal.aborted;
    },
  };
  const budget = {
    reserveCopy() {
      if (isRefused) throw new Error("refused");
      onCopy(true);
    },
    releaseCopy: () => onCopy(false),
    admit: () => admitted,
  };
  const info = {
    dialect: "upstream",
    restricted,
    remoteAddress: "::1",
    id: "r1",
    budget,
    caller,
    bearer,
  };
  const body = Buffer.from("body");
  return { call: daemon.blocks.getBlock, path: "/p", body, params: costMs, request: info } as never;
}

const nextTurn = () => new Promise<void>((resolve) => setImmediate(resolve));

/** Makes requests wait until a thread is started. */
async function untilStarted(
  { threads, workers }: ReturnType<typeof scene>,
  count = 1,
): Promise<RecordingWorker> {
  for (let i = 0; workers.length < count && i < 100; i++) await threads.answer(request(9), {}, here);
  assert.equal(workers.length, count);
  await nextTurn();
  return workers.at(-1)!;
}

async function untilReady(scene_: ReturnType<typeof scene>): Promise<RecordingWorker> {
  const worker = await untilStarted(scene_);
  worker.emit("message", "ready");
  return worker;
}

test("one request at a time never starts a thread, and calls that no thread answers neither", async () => {
  const { threads, workers } = scene();
  for (let i = 0; i < 100; i++) {
    assert.equal(threads.answer(request(20), {}, here), HERE);
    for (let more = 0; more < 10; more++) assert.equal(threads.answer(request(undefined), {}, here), HERE);
    await nextTurn();
  }
  assert.equal(workers.length, 0);
});

test("a thread is started once requests of one turn have waited for 100 ms, and gets none before it is ready", async () => {
  const { threads, workers } = scene();
  const answer = () => threads.answer(request(10), {}, here);
  for (let i = 0; i < 11; i++) assert.equal(answer(), HERE);
  assert.equal(workers.length, 0);
  assert.equal(answer(), HERE);
  assert.equal(workers.length, 1);
  for (let i = 0; i < 30; i++) assert.equal(answer(), HERE);
  assert.equal(workers.length, 1, "no more than may run");
  assert.deepEqual(workers[0]!.messages, []);
});

test("the first request of a turn is answered here, then a thread gets twice as much as this one", async () => {
  const scene_ = scene();
  const { threads } = scene_;
  const worker = await untilReady(scene_);
  const order: string[] = [];
  for (let i = 0; i < 6; i++) {
    const answer = threads.answer(request(1), {}, here);
    order.push(answer === HERE ? "here" : "there");
  }
  assert.deepEqual(order, ["here", "there", "there", "here", "there", "there"]);
  assert.deepEqual(
    worker.tasks.map(({ id: _, ...task }) => task),
    Array(4).fill({
      path: "/p",
      body: new Uint8Array(Buffer.from("body")),
      dialect: "upstream",
      restricted: true,
      facts: "facts",
    }),
  );
  await nextTurn();
  assert.equal(threads.answer(request(5), {}, here), HERE, "another turn");
  // Four milliseconds wait there.
  assert.notEqual(threads.answer(request(5), {}, here), HERE);
  assert.equal(threads.answer(request(0.1), {}, here) === HERE, false);
  assert.equal(worker.tasks.length, 6);
});

test("a thread without a task gets the first request of no turn, whatever its tasks have cost", async () => {
  const scene_ = scene();
  const { threads } = scene_;
  const worker = await untilReady(scene_);
  threads.answer(request(9), {}, here);
  // Added one after the other and taken away again, these leave less than nothing.
  const answers = [0.1, 0.7, 0.3].map((costMs) => threads.answer(request(costMs), {}, here));
  for (const task of worker.tasks) worker.end(task, "{}");
  assert.equal((await Promise.all(answers)).includes(HERE), false);
  await nextTurn();
  for (let i = 0; i < 3; i++) {
    assert.equal(threads.answer(request(1), {}, here), HERE);
    await nextTurn();
  }
});

test("of several threads the one with less to do is given a request", async () => {
  const scene_ = scene({ maxThreads: 2 });
  const { threads, workers } = scene_;
  await untilStarted(scene_, 2);
  for (const worker of workers) worker.emit("message", "ready");
  for (let i = 0; i < 6; i++) threads.answer(request(1), {}, here);
  assert.deepEqual(
    workers.map(({ tasks }) => tasks.length),
    [2, 2],
  );
});

test("a response, the work for it and the notes arrive as they were sent", async () => {
  const scene_ = scene();
  const { threads, notes } = scene_;
  const worker = await untilReady(scene_);
  threads.answer(request(1), {}, here);
  let workMs = 0;
  const ends: CallEnd[] = [];
  const lines: unknown[] = [];
  let reads = 0;
  const rules = {
    onCall: (end: CallEnd) => void ends.push(end),
    onRead: () => void reads++,
    log: { info: (...line: unknown[]) => void lines.push(line) } as never,
  };
  const answer = threads.answer(request(1, { onWork: (ms) => (workMs += ms) }), rules, here);
  worker.end(worker.tasks[0]!, "{}", ["a", "b"]);
  assert.deepEqual(await answer, { status: 200, type: "application/json", body: Buffer.from("{}") });
  assert.deepEqual([workMs, reads, notes], [7, 1, ["a", "b"]]);
  assert.deepEqual(ends, [{ call: "get_block", seconds: 0.25, error: undefined }]);
  assert.deepEqual(lines, [["call", { call: "get_block", from: "::1", request: "r1" }]]);
});

test("what a thread has no response for is answered here, and counts as the caller's work all the same", async () => {
  const scene_ = scene();
  const worker = await untilReady(scene_);
  scene_.threads.answer(request(1), {}, here);
  const works: number[] = [];
  let counted = 0;
  const rules = {
    onCall() {
      counted++;
    },
  };
  const answer = scene_.threads.answer(request(1, { onWork: (ms) => void works.push(ms) }), rules, here);
  worker.end(worker.tasks[0]!);
  assert.equal(await answer, HERE);
  assert.deepEqual([works.length, works[0], counted, scene_.notes], [2, 7, 0, []]);
});

test("a thread hears of callers that leave, who get no response", async () => {
  const scene_ = scene();
  const worker = await untilReady(scene_);
  scene_.threads.answer(request(1), {}, here);
  const controller = new AbortController();
  const answer = scene_.threads.answer(request(1, { controller }), {}, here) as Promise<Answer>;
  const [task] = worker.tasks;
  controller.abort();
  assert.deepEqual(worker.messages.at(-1), { abandon: task!.id });
  const left = assert.rejects(answer, CallerLeft);
  worker.end(task!);
  await left;
});

test("once its task has a result, a caller that leaves is no news to the thread", async () => {
  const scene_ = scene();
  const worker = await untilReady(scene_);
  scene_.threads.answer(request(1), {}, here);
  const controller = new AbortController();
  const answer = scene_.threads.answer(request(1, { controller }), {}, here);
  worker.end(worker.tasks[0]!, "{}");
  await answer;
  const before = worker.messages.length;
  controller.abort();
  assert.equal(worker.messages.length, before);
});

test("requests of a thread that ends are answered here; after an error none is started for a minute", async () => {
  let now = 0;
  const scene_ = scene({ now: () => now });
  const { threads, workers, errors } = scene_;
  const worker = await untilReady(scene_);
  threads.answer(request(1), {}, here);
  const answers = [threads.answer(request(1), {}, here), threads.answer(request(1), {}, here)];
  assert.equal(worker.tasks.length, 2);
  const error = new Error("out of memory");
  worker.emit("error", error);
  worker.emit("exit", 1);
  assert.deepEqual(await Promise.all(answers), [HERE, HERE]);
  assert.deepEqual(errors, [{ error }]);
  now = 59_999;
  for (let i = 0; i < 100; i++) assert.equal(threads.answer(request(9), {}, here), HERE);
  assert.equal(workers.length, 1);
  now = 60_000;
  await untilStarted(scene_, 2);
});

test("a thread without tasks ends, one with a task does not, and the next load starts another", async () => {
  const scene_ = scene({ idleMs: 1 });
  const { threads } = scene_;
  const worker = await untilStarted(scene_);
  worker.emit("message", "ready");
  threads.answer(request(1), {}, here);
  const answer = threads.answer(request(1), {}, here);
  assert.equal(worker.keepsProcess, true);
  await delay(50);
  assert.equal(worker.messages.includes("end"), false);
  worker.end(worker.tasks[0]!, "{}");
  await answer;
  assert.equal(worker.keepsProcess, false);
  while (!worker.messages.includes("end")) await delay(5);
  await untilStarted(scene_, 2);
});

test("requests of tokens, and all after the stop, are answered here", async () => {
  const scene_ = scene();
  const worker = await untilReady(scene_);
  const { threads } = scene_;
  const bearer = {};
  for (let i = 0; i < 3; i++) assert.equal(threads.answer(request(1, { bearer }), {}, here), HERE);
  await threads.stop();
  assert.deepEqual(worker.messages, ["end"]);
  for (let i = 0; i < 100; i++) assert.equal(threads.answer(request(9), {}, here), HERE);
  assert.equal(scene_.workers.length, 1);
});

test("a request without memory is refused before any thread has it", async () => {
  const scene_ = scene();
  const worker = await untilReady(scene_);
  scene_.threads.answer(request(1), {}, here);
  assert.throws(() => scene_.threads.answer(request(1, { isRefused: true }), {}, here), /refused/);
  assert.deepEqual(worker.messages, []);
});

test("a request that waited for memory until its thread had ended is answered here", async () => {
  const scene_ = scene({ idleMs: 1 });
  const worker = await untilReady(scene_);
  scene_.threads.answer(request(1), {}, here);
  let admit = () => {};
  const admitted = new Promise<void>((resolve) => {
    admit = resolve;
  });
  const answer = scene_.threads.answer(request(1, { admitted }), {}, here);
  while (!worker.messages.includes("end")) await delay(5);
  admit();
  assert.equal(await answer, HERE);
  assert.deepEqual(worker.messages, ["end"]);
});

test("the process waits for a thread that was told to end, whatever it still sends", async () => {
  const scene_ = scene();
  const worker = await untilStarted(scene_);
  worker.endsAtOnce = false;
  const stopped = scene_.threads.stop();
  worker.emit("message", "ready");
  assert.equal(worker.keepsProcess, true);
  assert.deepEqual(worker.messages, ["end"]);
  worker.emit("exit", 0);
  await stopped;
});

test("a stop waits for threads that end because they were idle", async () => {
  const scene_ = scene({ idleMs: 1 });
  const worker = await untilReady(scene_);
  worker.endsAtOnce = false;
  while (!worker.messages.includes("end")) await delay(5);
  let isStopped = false;
  const stopped = scene_.threads.stop().then(() => {
    isStopped = true;
  });
  await nextTurn();
  assert.equal(isStopped, false);
  worker.emit("exit", 0);
  await stopped;
  assert.deepEqual(worker.messages, ["end"]);
});

test("where no thread can be started, requests are answered here, and the next try comes a minute later", async () => {
  let now = 0;
  let tries = 0;
  const error = new Error("no more threads");
  const startWorker = () => {
    tries++;
    throw error;
  };
  const { threads, errors } = scene({ now: () => now, startWorker });
  for (let i = 0; i < 100; i++) assert.equal(threads.answer(request(9), {}, here), HERE);
  assert.deepEqual([tries, errors], [1, [{ error }]]);
  now = 60_000;
  for (let i = 0; i < 100; i++) assert.equal(threads.answer(request(9), {}, here), HERE);
  assert.equal(tries, 2);
});

test("the owner's requests never wait in a thread behind those of strangers", async () => {
  const scene_ = scene();
  const { threads } = scene_;
  const worker = await untilReady(scene_);
  threads.answer(request(9, { restricted: false }), {}, here);
  const ofOwner = () => threads.answer(request(1, { restricted: false }), {}, here);
  const first = ofOwner();
  assert.notEqual(first, HERE, "nothing is before it");
  const ofStranger = threads.answer(request(1), {}, here);
  assert.notEqual(ofStranger, HERE);
  assert.equal(ofOwner(), HERE);
  worker.end(worker.tasks[1]!);
  await ofStranger;
  threads.answer(request(9, { restricted: false }), {}, here);
  assert.notEqual(ofOwner(), HERE);
});

test("a thread whose task takes very long gets no more until that is done", async () => {
  let now = 0;
  const scene_ = scene({ now: () => now });
  const { threads } = scene_;
  const worker = await untilReady(scene_);
  threads.answer(request(9), {}, here);
  const long = threads.answer(request(1), {}, here);
  now = 100;
  assert.notEqual(threads.answer(request(1), {}, here), HERE);
  now = 101;
  assert.equal(threads.answer(request(1), {}, here), HERE);
  worker.end(worker.tasks[0]!, "{}");
  await long;
  assert.notEqual(threads.answer(request(1), {}, here), HERE);
});

test("memory for the copy of a body is reserved as long as a thread has it", async () => {
  const scene_ = scene();
  const { threads } = scene_;
  const worker = await untilReady(scene_);
  threads.answer(request(9), {}, here);
  const copies: boolean[] = [];
  const onCopy = (isThere: boolean) => void copies.push(isThere);
  const answer = threads.answer(request(1, { onCopy }), {}, here);
  assert.deepEqual(copies, [true]);
  worker.end(worker.tasks[0]!, "{}");
  await answer;
  assert.deepEqual(copies, [true, false]);
});
