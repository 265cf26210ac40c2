/** What a thread answers, and what it leaves to the service's own thread: every error, whoever finds it. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { after, before, test } from "node:test";
import { MessageChannel, type MessagePort } from "node:worker_threads";
import { Drawn, daemon, type Implemented, limitsOfCallers, serveThread } from "../src/index.ts";
import type { MessageToThread, TaskResult } from "../src/server/threads/messages.ts";
import type { ContextTask } from "../src/server/threads/serve-thread.ts";

interface Context {
  readonly task: ContextTask;
  readonly signal: AbortSignal;
}

/** A header as it is written, without a single value. */
const header = daemon.blocks.getBlockHeadersRange.result.fields.headers.item.absent() as object;

/** Headers from here on take as much work as strangers may have saved up. */
const LONG_START = 5000;
const LONG_MS = 130;

function work(milliseconds: number): void {
  for (const since = performance.now(); performance.now() - since < milliseconds; );
}

let thread: MessagePort;
let releases = 0;
let isClosed = false;

before(async () => {
  const { port1, port2 } = new MessageChannel();
  thread = port2;
  const headers = (params: { start_height: number; end_height: number }, { task }: Context) => {
    task.note(["asked", params.start_height]);
    task.onWait(1e9);
    const count = params.end_height - params.start_height + 1;
    const draw = (place: number) => {
      if (params.start_height + place === 13) throw new TypeError("a damaged row");
      // Twice, because what is done at once is counted elsewhere.
      if (params.start_height === LONG_START && place % 8 === 4) work(LONG_MS);
      return header;
    };
    return { headers: new Drawn(count, draw, { hold() {}, release() {} }) };
  };
  const block = (_: unknown, { signal }: Context) =>
    new Promise((_resolve, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
  serveThread<Context>({
    port: port1,
    calls: [
      { call: daemon.blocks.getBlockHeadersRange, handler: headers },
      { call: daemon.blocks.getBlock, handler: block },
    ] as unknown as Implemented<Context>[],
    limits: limitsOfCallers({ answerBytes: 100_000, eventLoopShare: 1e-6 }, true),
    rowsRead: () => 0,
    contextOf: ({ caller }, task) => ({ task, signal: caller.signal }),
    release: () => void releases++,
    async close() {
      isClosed = true;
    },
  });
  assert.deepEqual(await once(thread, "message"), ["ready"]);
});

after(async () => {
  const ended = once(thread, "close");
  send(99, "get_block", { height: 1 });
  send(100, "get_block_headers_range", range(20, 30));
  thread.postMessage("end" satisfies MessageToThread);
  await ended;
  assert.equal(isClosed, true);
});

function send(id: number, method: string, params: object, restricted = false): void {
  const text = JSON.stringify({ jsonrpc: "2.0", id: 7, method, params });
  const body = new Uint8Array(Buffer.from(text));
  thread.postMessage({
    id,
    path: "/json_rpc",
    body,
    dialect: "upstream",
    restricted,
    facts: 0,
  } satisfies MessageToThread);
}

async function ask(params: object, restricted = false): Promise<TaskResult> {
  send(1, "get_block_headers_range", params, restricted);
  const [result] = (await once(thread, "message")) as [TaskResult];
  return result;
}

const range = (start_height: number, end_height: number) => ({ start_height, end_height });

test("a response comes with its notes, and what was only waited for is no work", async () => {
  for (const restricted of [false, true]) {
    const { id, milliseconds, response } = await ask(range(20, 59), restricted);
    assert.equal(id, 1);
    assert.equal(milliseconds, 0);
    assert.deepEqual([response!.type, response!.notes], ["application/json", [["asked", 20]]]);
    const { headers } = JSON.parse(Buffer.from(response!.bytes).toString()).result;
    assert.equal(headers.length, 40);
    assert.ok(response!.seconds >= 0);
  }
});

test("an error is left to the service's own thread, whether of the params, the handler, or what is written", async () => {
  for (const params of [
    range(0, 59),
    { ...range(20, 59), fill_pow_hash: "" },
    range(100, 9999),
    { start_height: {} },
  ])
    assert.equal((await ask(params)).response, undefined, JSON.stringify(params));
  assert.notEqual((await ask(range(20, 30))).response, undefined);
});

test("a stranger's work never pauses in a thread, where others wait behind it", async () => {
  assert.notEqual((await ask(range(LONG_START, LONG_START + 30), true)).response, undefined);
});

test("a task whose caller leaves ends, whether it runs or waits, and the next one is answered", async () => {
  const before = releases;
  const results: TaskResult[] = [];
  thread.on("message", (result: TaskResult) => results.push(result));
  send(2, "get_block", { height: 1 });
  send(3, "get_block", { height: 1 });
  send(4, "get_block_headers_range", range(20, 30));
  thread.postMessage({ abandon: 3 } satisfies MessageToThread);
  thread.postMessage({ abandon: 99 } satisfies MessageToThread);
  thread.postMessage({ abandon: 2 } satisfies MessageToThread);
  while (results.length < 3) await once(thread, "message");
  thread.removeAllListeners("message");
  assert.deepEqual(
    results.map(({ id, response }) => [id, response !== undefined]),
    [
      [3, false],
      [2, false],
      [4, true],
    ],
  );
  assert.equal(releases - before, 2, "what has begun");
});
