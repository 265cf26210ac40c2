import assert from "node:assert/strict";
import { connect, type Socket } from "node:net";
import { describe, it, type TestContext } from "node:test";
import { LoopLoad, mapSliced, whenFailed, whenReady } from "@anulo/limits";
import { blockHeader } from "../src/daemon/fields.ts";
import {
  createRpcServer,
  daemon,
  defaultLimits,
  drawn,
  implementFor,
  type Limits,
  type RequestInfo,
  type RpcServerOptions,
} from "../src/index.ts";
import { type Admission, type Caller, CallerShare } from "../src/server/caller-share.ts";
import { divideLimits } from "../src/server/limits.ts";

const { blocks, pool, admin } = daemon;
const implement = implementFor<RequestInfo>();

const header = { ...blockHeader.absent()!, hash: "a".repeat(64), prev_hash: "b".repeat(64) };

/** Lets what is ready run until something is so. */
async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await new Promise((resolve) => setTimeout(resolve, 1));
}

type Options = Partial<RpcServerOptions<RequestInfo>>;

async function start(t: TestContext, calls: RpcServerOptions<RequestInfo>["calls"], options: Options = {}) {
  const server = await createRpcServer({
    calls,
    listen: [
      { host: "127.0.0.1", port: 0 },
      { host: "127.0.0.1", port: 0, restricted: true },
    ],
    context: (request) => request,
    ...options,
  });
  t.after(() => server.stop(0));
  return { owner: server.urls[0]!, restricted: server.urls[1]!, server };
}

/** Sends a request of JSON-RPC over a connection of its own, and reads nothing by itself. */
function send(t: TestContext, url: string, body: unknown): Socket {
  const text = JSON.stringify(body);
  const socket = connect(Number(new URL(url).port), "127.0.0.1");
  t.after(() => socket.destroy());
  socket.on("error", () => {});
  socket.pause();
  socket.write(`POST /json_rpc HTTP/1.1\r\nContent-Length: ${text.length}\r\n\r\n${text}`);
  return socket;
}

async function post(url: string, body: unknown, path = "/json_rpc") {
  const response = await fetch(url + path, { method: "POST", body: JSON.stringify(body) });
  return { status: response.status, text: await response.text() };
}

/** `get_info` and a call that answers with as many headers as it is asked for. */
function callsOf(counts: { headers?: number } = {}) {
  return [
    ...implement(
      { getBlockHeadersRange: blocks.getBlockHeadersRange, getBlockCount: blocks.getBlockCount },
      {
        getBlockHeadersRange: ({ start_height, end_height }) => {
          counts.headers = (counts.headers ?? 0) + 1;
          const heights = Array.from({ length: end_height - start_height }, (_, height) => height);
          return { headers: drawn(heights, (height) => ({ ...header, height })) };
        },
        getBlockCount: () => ({ count: 1 }),
      },
    ),
    ...implement(
      { getVersion: admin.getVersion },
      { getVersion: () => ({ hard_forks: [], release: true, version: 1 }) },
    ),
  ];
}

const range = (headers: number, id: unknown = 1) => ({
  id,
  method: "get_block_headers_range",
  params: { start_height: 0, end_height: headers },
});

describe("a batch", () => {
  it("on a restricted port is answered with a few megabytes at most, and the rest refused", async (t) => {
    // Closes: a request of some kilobytes that takes many megabytes to answer.
    const { restricted, owner } = await start(t, callsOf());
    const batch = Array.from({ length: 20 }, (_, id) => range(1000, id));
    const { status, text } = await post(restricted, batch);
    assert.equal(status, 200);
    assert.ok(text.length <= 4 * 2 ** 20, `${text.length} bytes`);
    const answers = JSON.parse(text) as { id: number; result?: unknown; error?: { code: number } }[];
    assert.deepEqual(
      answers.map(({ id }) => id),
      [...batch.keys()],
    );
    const isAnswered = ({ result }: { result?: unknown }) => result !== undefined;
    assert.ok(answers.some(isAnswered) && !answers.every(isAnswered));
    for (const { error } of answers.filter((answer) => !isAnswered(answer)))
      assert.equal(error?.code, -32005);
    // The owner may have more.
    assert.ok(JSON.parse((await post(owner, batch)).text).every(isAnswered));
  });

  it("on a restricted port has twenty requests at most, on the owner's a hundred", async (t) => {
    const { restricted, owner } = await start(t, callsOf());
    const batch = (length: number) => Array.from({ length }, (_, id) => ({ id, method: "get_version" }));
    assert.equal(JSON.parse((await post(restricted, batch(20))).text).length, 20);
    assert.equal(JSON.parse((await post(restricted, batch(21))).text).error.code, -32600);
    assert.equal(JSON.parse((await post(owner, batch(100))).text).length, 100);
    assert.equal(JSON.parse((await post(owner, batch(101))).text).error.code, -32600);
  });
});

describe("the id of a request", () => {
  const nested = (depth: number, inner: unknown): unknown =>
    depth === 0 ? inner : { a: nested(depth - 1, inner) };

  it("comes back as it was, a few kilobytes of it", async (t) => {
    const { restricted } = await start(t, callsOf());
    for (const id of ["", "x".repeat(500), 7, -1, nested(5, [1, 2]), { a: "b", c: [{}, {}] }]) {
      for (const method of ["get_version", "get_nothing"])
        assert.deepEqual(JSON.parse((await post(restricted, { id, method })).text).id, id);
    }
  });

  it("is refused where its response would be many times the request", async (t) => {
    // Closes: 90 kB of braces in an id that came back as 6 MB of indentation, counted nowhere.
    const { restricted, owner } = await start(t, callsOf());
    const many = Array.from({ length: 2000 }, () => ({}));
    const ids = [nested(95, many), "\u0001".repeat(5000), { ["n".repeat(5000)]: 1 }, many];
    for (const id of ids) {
      for (const method of ["get_version", "get_nothing"]) {
        for (const url of [restricted, owner]) {
          const { text } = await post(url, { id, method });
          assert.ok(text.length < 200, `${text.length} bytes`);
          assert.deepEqual(JSON.parse(text).error, { code: -32600, message: "Invalid Request" });
        }
      }
    }
    const [refused, answered] = JSON.parse((await post(restricted, [{ id: ids[0] }, range(1)])).text);
    assert.equal(refused.error.code, -32600);
    assert.notEqual(answered.result, undefined);
  });

  it("and all else of what names no call is counted as a call's is", async (t) => {
    // Closes: requests that held memory which nobody counted, as no call had declared any.
    const { owner } = await start(t, callsOf(), { limits: { heldBytes: 8 * 2 ** 20 } });
    const params = (count: number) => ({ list: Array.from({ length: count }, () => 1) });
    for (const method of ["get_nothing", "get_version"]) {
      assert.equal((await post(owner, { method, params: params(30_000) })).status, 200);
      assert.equal((await post(owner, { method, params: params(60_000) })).status, 503);
    }
  });
});

describe("a caller who leaves", () => {
  it("ends the call that is being answered, and the rest of its batch", async (t) => {
    // Closes: work that goes on for callers who have left long ago.
    const asked: string[] = [];
    const ended: unknown[] = [];
    const errors: unknown[] = [];
    const calls = implement(
      { getTransactionPoolHashes: pool.getTransactionPoolHashes, getTxpoolBacklog: pool.getTxpoolBacklog },
      {
        async getTransactionPoolHashes(_params, { caller }) {
          asked.push("path");
          const { signal } = caller;
          await whenFailed(
            () => mapSliced(endless(), () => 1, { sliceMs: 0, signal }),
            (error) => {
              ended.push(error);
              throw error;
            },
          );
          return { tx_hashes: [] };
        },
        async getTxpoolBacklog(_params, { caller }) {
          asked.push("method");
          const { signal } = caller;
          await whenFailed(
            () => mapSliced(endless(), () => 1, { sliceMs: 0, signal }),
            (error) => {
              ended.push(error);
              throw error;
            },
          );
          return {} as never;
        },
      },
    );
    const log = {
      error: (...error: unknown[]) => void errors.push(error),
      warn() {},
      info() {},
      debug() {},
      in: () => log,
    };
    const { owner, restricted } = await start(t, calls, { log, limits: { slowMs: 400, halfClosedMs: 1 } });
    for (const url of [owner, restricted]) {
      const batch = Array.from({ length: 20 }, (_, id) => ({ id, method: "get_txpool_backlog" }));
      // One leaves for good, the other only closes its side, as a client does that is ended.
      for (const leave of [(socket: Socket) => socket.resetAndDestroy(), (socket: Socket) => socket.end()]) {
        const before = ended.length;
        const socket = send(t, url, batch);
        await until(() => asked.length === before + 1);
        leave(socket);
        await until(() => ended.length === before + 1);
      }
    }
    const path = new URL(owner);
    const socket = connect(Number(path.port), "127.0.0.1");
    t.after(() => socket.destroy());
    socket.write("GET /get_transaction_pool_hashes HTTP/1.1\r\n\r\n");
    await until(() => asked.length === 5);
    socket.destroy();
    await until(() => ended.length === 5);
    assert.deepEqual(asked, ["method", "method", "method", "method", "path"]);
    assert.deepEqual(errors, []);
  });

  it("has what acts done to its end, and gets the response if it only closed its side", async (t) => {
    let release = (): void => {};
    const waiting = new Promise<void>((resolve) => {
      release = resolve;
    });
    let entered = false;
    let isGone = (): boolean => false;
    const calls = implement(
      { flushTxpool: pool.flushTxpool },
      {
        async flushTxpool(_params, { caller }) {
          isGone = () => caller.signal.aborted;
          entered = true;
          await waiting;
          return {};
        },
      },
    );
    const { owner } = await start(t, calls, { limits: { slowMs: 400, halfClosedMs: 1 } });
    const socket = send(t, owner, { id: 1, method: "flush_txpool" });
    socket.end();
    await until(() => entered && isGone());
    release();
    let answer = "";
    for await (const bytes of socket) answer += String(bytes);
    assert.match(answer, /"status": "OK"/);
  });
});

/** Yields for ever. */
function* endless(): Generator<number> {
  for (;;) yield 1;
}

describe("slow readers", () => {
  it("of a restricted port leave the owner's share untouched, and are cut off", async (t) => {
    // Closes: strangers who read nothing keep the owner from being answered.
    const { restricted, owner } = await start(t, callsOf(), {
      limits: { heldBytes: 64 * 2 ** 20, slowMs: 500 },
    });
    // Each of these responses is longer than what systems buffer, and two are more than strangers may have.
    for (let i = 0; i < 6; i++) send(t, restricted, range(12_000));
    for (let i = 0; i < 20; i++)
      assert.equal((await post(owner, { id: 1, method: "get_version" })).status, 200);
    const { status, text } = await post(owner, range(12_000));
    assert.equal(status, 200);
    assert.ok(text.length > 8 * 2 ** 20);
    while ((await post(restricted, range(12_000))).status !== 200);
  });
});

describe("the share of strangers", () => {
  const MiB = 2 ** 20;
  const large = { requestBytes: MiB, memoryBytes: MiB, rows: 1_000_000, responseBytes: 8 * MiB };
  const small = { requestBytes: MiB, memoryBytes: MiB, rows: 10, responseBytes: MiB };

  function shareOf(limits: Partial<Limits> = {}, now?: () => number) {
    const { strangers } = divideLimits({ ...defaultLimits, ...limits });
    return new CallerShare({ ...strangers, ...limits }, { isForStrangers: true, ...(now && { now }) });
  }

  /** Lets whatever may begin now begin. */
  const turns = async () => {
    for (let i = 0; i < 20; i++) await new Promise((resolve) => setImmediate(resolve));
  };

  it("and that of the owner are what the service has, together", () => {
    for (const heldBytes of [1, 1000, 512 * MiB]) {
      const { owner, strangers } = divideLimits({ ...defaultLimits, heldBytes });
      assert.equal(owner.heldBytes + strangers.heldBytes, heldBytes);
    }
    const usual = divideLimits(defaultLimits).strangers;
    assert.equal(usual.reservedBytes, usual.answerBytes, "nothing is made that is not reserved");
    assert.ok(usual.answerBytes * usual.expensiveCalls <= usual.heldBytes / 2);
    const { strangers } = divideLimits({ ...defaultLimits, batch: 5, connectionsPerPublicAddress: 3 });
    assert.deepEqual([strangers.batch, strangers.connectionsPerPublicAddress], [5, 3]);
  });

  it("admits as many calls that take long as it has slots, and the next when one is over", async () => {
    const share = shareOf({ expensiveCalls: 2 });
    const callers = Array.from({ length: 4 }, (_, i) => share.open(`1.2.3.${i}`));
    const [one, two] = callers.slice(0, 2).map((caller) => share.admit(caller, large) as Admission);
    const admitted: number[] = [];
    const third = Promise.resolve(share.admit(callers[2]!, large)).then((admission) => {
      admitted.push(3);
      return admission;
    });
    const fourth = share.admit(callers[3]!, large);
    assert.ok(
      !(share.admit(callers[3]!, small) instanceof Promise) || (await share.admit(callers[3]!, small)),
    );
    assert.deepEqual(admitted, []);
    one!.end();
    const next = await third;
    assert.deepEqual(admitted, [3]);
    // Who leaves while waiting is never admitted.
    callers[3]!.leave();
    assert.equal(await fourth, undefined);
    two!.end();
    next!.end();
    for (const admission of [one, two, next]) admission!.hold.release();
  });

  it("gives back to the last byte what was held, whatever became of it", async () => {
    const share = shareOf();
    const caller = share.open("1.2.3.4");
    assert.ok(caller.request.resize(1000));
    const admission = share.admit(caller, large) as Admission;
    assert.equal(share.heldBytes, 1000 + 8 * MiB);
    admission.end();
    admission.end();
    assert.ok(admission.hold.resize(500));
    assert.equal(share.heldBytes, 1500);
    caller.leave();
    assert.equal(share.heldBytes, 500);
    admission.hold.release();
    admission.hold.release();
    assert.equal(share.heldBytes, 0);
  });

  it("lets one address take its part and no more, and others all the same", async () => {
    const share = shareOf({ heldBytes: 32 * MiB, heldBytesPerAddress: 16 * MiB, expensiveCalls: 10 });
    const greedy = share.open("1.2.3.4");
    const admissions = [share.admit(greedy, large), share.admit(greedy, large)] as Admission[];
    const waiting = share.admit(greedy, large);
    assert.ok(waiting instanceof Promise);
    const other = await share.admit(share.open("5.6.7.8"), large);
    assert.ok(other !== undefined);
    for (const admission of admissions) assert.ok("hold" in admission);
    admissions[0]!.hold.release();
    assert.ok((await waiting) !== undefined);
    // Requests have half of it: what waits to be answered never keeps responses from being made.
    assert.equal(greedy.request.resize(8 * MiB + 1), false);
  });

  it("keeps nobody waiting for more than a while, nor for more than there ever is", async () => {
    const share = shareOf({ heldBytes: 2 * MiB, slowMs: 5 });
    const caller = share.open("1.2.3.4");
    const admission = (await share.admit(caller, large)) as Admission;
    assert.ok(admission.hold.resize(2 * MiB));
    assert.equal(await share.admit(share.open("5.6.7.8"), large), undefined);
    admission.hold.release();
    assert.ok((await share.admit(share.open("5.6.7.8"), { ...large, rows: 1 })) !== undefined);
  });

  it("counts the requests of all and of each address", () => {
    const share = shareOf({ requests: 3, requestsPerAddress: 2 });
    const [a, b] = ["1.2.3.4", "5.6.7.8"].map((address) => share.open(address));
    assert.deepEqual([share.begin(a!), share.begin(a!), share.begin(a!)], [true, true, false]);
    assert.deepEqual([share.begin(b!), share.begin(b!)], [true, false]);
    share.end(a!);
    assert.equal(share.begin(b!), true);
    assert.equal(share.requests, 3);
  });

  it("has a part of the processor's time, whatever its callers send, each address in its turn", async () => {
    // Closes: strangers whose requests are cheap to send and costly to refuse keep a core busy for ever.
    let time = 0;
    const share = shareOf({ eventLoopShare: 0.5 }, () => time);
    const [greedy, other] = ["1.2.3.4", "5.6.7.8"].map((address) => share.open(address));
    assert.equal(share.turn(greedy!), undefined);
    share.charge(100 + 500);
    const order: string[] = [];
    const wait = (name: string, caller: Caller) =>
      whenReady(share.turn(caller), () => {
        order.push(name);
        share.charge(50);
      });
    const all = [1, 2, 3].map((i) => wait(`greedy ${i}`, greedy!));
    all.push(wait("other", other!));
    await turns();
    assert.deepEqual(order, []);
    // Half of it: this is what the work above may take.
    time = 1001;
    await all[0];
    await turns();
    assert.deepEqual(order, ["greedy 1"]);
    time += 100;
    await all[3];
    time += 10_000;
    await Promise.all(all);
    assert.deepEqual(order, ["greedy 1", "other", "greedy 2", "greedy 3"]);
    // The owner's requests never wait.
    const owner = new CallerShare(divideLimits(defaultLimits).owner, { isForStrangers: false });
    owner.charge(1_000_000);
    assert.equal(owner.turn(owner.open("1.2.3.4")), undefined);
  });

  it("counts its work more than once while the event loop has no time left", () => {
    const time = { idle: 0, active: 0 };
    const loopLoad = new LoopLoad(() => ({ ...time }));
    const { strangers } = divideLimits(defaultLimits);
    const share = new CallerShare(strangers, { isForStrangers: true, now: () => 0, loopLoad });
    time.active = 50;
    share.charge(1000);
    const { eventLoopShare } = strangers;
    assert.equal(share.waitMs, Math.ceil((1500 - 100) / eventLoopShare));
  });

  it("ends the slices of calls under way until there is time again, or their caller leaves", async () => {
    // Closes: calls that had all begun before the first of them was charged took all of the event loop.
    let time = 0;
    const share = shareOf({ eventLoopShare: 0.5 }, () => time);
    const [staying, leaving] = ["1.2.3.4", "5.6.7.8"].map((address) => share.open(address));
    const steps: string[] = [];
    const run = (name: string, { rows, leftSignal }: Caller) =>
      Promise.resolve(
        rows.during(
          (options) =>
            mapSliced([1, 2], (item) => void steps.push(`${name} ${item}`), { ...options, sliceMs: 0 }),
          { signal: leftSignal },
        ),
      );
    share.charge(100 + 500);
    const first = run("staying", staying!);
    const second = run("leaving", leaving!);
    await turns();
    assert.deepEqual(steps, ["staying 1", "leaving 1"]);
    leaving!.leave();
    await assert.rejects(second);
    assert.deepEqual(steps, ["staying 1", "leaving 1"]);
    time = 2000;
    await first;
    assert.deepEqual(steps, ["staying 1", "leaving 1", "staying 2"]);
  });

  it("is begun on for some milliseconds a turn of the event loop, the owner's at once", async () => {
    const share = shareOf();
    const caller = share.open("1.2.3.4");
    let begun = 0;
    const work = () => {
      const from = performance.now();
      while (performance.now() - from < 3);
      begun++;
    };
    let most = 0;
    let before = 0;
    const look = () => {
      most = Math.max(most, begun - before);
      before = begun;
      if (begun < 60) setImmediate(look);
    };
    setImmediate(look);
    await Promise.all(Array.from({ length: 60 }, () => whenReady(share.turn(caller), work)));
    assert.ok(most <= 10, `${most} requests of 3 ms in one turn`);
  });
});

describe("what a call costs", () => {
  it("is refused above its declaration: a request too long, values too many, a response too long", async (t) => {
    const { owner, restricted } = await start(t, callsOf());
    const many = { id: 1, method: "get_version", params: { x: Array(70_000).fill(1) } };
    assert.equal((await post(owner, many)).status, 413);
    // Strangers' are not even parsed to their end.
    assert.equal(JSON.parse((await post(restricted, many)).text).error.code, -32700);
    // 32 MiB are what strangers may be answered with.
    const long = JSON.parse((await post(restricted, range(60_000))).text);
    assert.equal(long.error.code, -32005);
    assert.match(long.error.message, /response would be too long; ask for less/);
    assert.equal(long.id, 1);
    assert.equal((await post(owner, range(60_000))).status, 200);
  });
});
