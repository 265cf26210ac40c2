import assert from "node:assert/strict";
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { Duplex } from "node:stream";
import { describe, it, type TestContext } from "node:test";
import { connect as connectTls } from "node:tls";
import {
  createIdentity,
  createRpcServer,
  defaultLimits,
  implementResourcesFor,
  type Limits,
  queryText,
  type ResourceRequest,
  type RpcServerOptions,
  resource,
  type ServerEvent,
  silent,
} from "../src/index.ts";
import { CallerShare } from "../src/server/caller-share.ts";
import { EventStream, eventText } from "../src/server/event-stream.ts";
import { HttpConnection } from "../src/server/http/connection.ts";
import type { HttpAnswer } from "../src/server/http/http-answer.ts";
import { ResponseBatch } from "../src/server/http/response-batch.ts";

const stream = resource({
  path: "/stream",
  query: { name: queryText({ longest: 10, absent: "" }) },
  summary: "A stream.",
});

/** Lets what is ready run until something is so. */
async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await new Promise((resolve) => setTimeout(resolve, 1));
}

/** Waits as one does for a log that grows: for ever, unless the reader leaves. */
function never(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    if (signal.aborted) reject(signal.reason);
    signal.addEventListener("abort", () => reject(signal.reason));
  });
}

type Source = (request: ResourceRequest, name: string) => AsyncIterable<ServerEvent>;
type Options = Partial<RpcServerOptions<object>>;

async function start(t: TestContext, source: Source, options: Options = {}) {
  const requests: ResourceRequest[] = [];
  const counts = { released: 0 };
  const errors: unknown[] = [];
  const server = await createRpcServer<object>({
    calls: [],
    resources: implementResourcesFor<object>()(
      { stream },
      {
        stream: (_, { name }, request) => {
          requests.push(request);
          return { events: source(request, name) };
        },
      },
    ),
    listen: [{ host: "127.0.0.1", port: 0 }],
    context: () => ({}),
    release: () => void counts.released++,
    log: { ...silent, error: (_message, fields) => void errors.push(fields) },
    ...options,
  });
  t.after(() => server.stop(0));
  return { server, port: Number(new URL(server.urls[0]!).port), requests, counts, errors };
}

/** A reader of its own connection, with all it has received. */
function open(t: TestContext, port: number, options: { head?: string; method?: string; tls?: boolean } = {}) {
  const { head = "", method = "GET", tls = false } = options;
  const socket: Socket = tls
    ? connectTls({ port, host: "127.0.0.1", rejectUnauthorized: false })
    : connect(port, "127.0.0.1");
  t.after(() => socket.destroy());
  const reader = { socket, text: "", hasEnded: false };
  socket.on("data", (bytes: Buffer) => {
    reader.text += bytes.toString();
  });
  socket.on("end", () => {
    reader.hasEnded = true;
  });
  socket.on("error", () => {});
  socket.write(`${method} /stream HTTP/1.1\r\n${head}\r\n`);
  return reader;
}

const bodyOf = (text: string): string => text.slice(text.indexOf("\r\n\r\n") + 4);

describe("an event", () => {
  it("is sent as lines, whatever its data", () => {
    assert.equal(eventText({ data: "x" }), "data: x\n\n");
    assert.equal(eventText({ id: "a_1", event: "e", data: "" }), "id: a_1\nevent: e\ndata: \n\n");
    const data = "1\r\nid: forged\r\r2\n\n";
    const lines = ["data: 1", "data: id: forged", "data: ", "data: 2", "data: ", "data: ", "", ""];
    assert.equal(eventText({ data }), lines.join("\n"));
  });

  it("has no name that could be taken for a line", () => {
    for (const name of ["a\nb", "a\rb", "a b", "é", "\0"]) {
      assert.throws(() => eventText({ id: name, data: "" }), TypeError);
      assert.throws(() => eventText({ event: name, data: "" }), TypeError);
    }
  });
});

describe("a stream", () => {
  it("is sent event by event, resumed where its reader says, and ends with its connection", async (t) => {
    const { port, requests, counts } = await start(t, async function* ({ lastEventId }) {
      const from = Number(lastEventId ?? 0);
      for (let at = from + 1; at <= from + 2; at++) yield { id: `${at}`, data: `{"at":${at}}` };
    });
    const reader = open(t, port, { head: "Last-Event-ID: 7\r\nAccept: text/event-stream\r\n" });
    await until(() => reader.hasEnded);
    const [head = ""] = reader.text.split("\r\n\r\n");
    assert.match(head, /^HTTP\/1\.1 200 /);
    for (const line of [
      ...["Content-Type: text/event-stream", "Cache-Control: no-store", "X-Accel-Buffering: no"],
      "Connection: close",
    ])
      assert.ok(head.split("\r\n").includes(line), line);
    assert.doesNotMatch(head, /Content-Length|Transfer-Encoding/);
    assert.equal(bodyOf(reader.text), 'id: 8\ndata: {"at":8}\n\nid: 9\ndata: {"at":9}\n\n');
    assert.deepEqual([requests[0]!.lastEventId, requests[0]!.accept], ["7", "text/event-stream"]);
    assert.deepEqual([counts.released, requests[0]!.signal.aborted], [1, true]);
  });

  it("is understood by other clients", async (t) => {
    const { server } = await start(t, async function* () {
      yield { data: "one" };
      yield { data: "two" };
    });
    const response = await fetch(`${server.urls[0]}/stream`);
    assert.equal(response.headers.get("content-type"), "text/event-stream");
    assert.equal(await response.text(), "data: one\n\ndata: two\n\n");
  });

  it("ends for its handler when its reader leaves, by either way to leave", async (t) => {
    let returned = 0;
    const { port, requests, counts, errors } = await start(t, async function* ({ signal }) {
      try {
        yield { data: "first" };
        await never(signal);
      } finally {
        returned++;
      }
    });
    for (const leave of [(socket: Socket) => socket.end(), (socket: Socket) => socket.resetAndDestroy()]) {
      const reader = open(t, port);
      await until(() => bodyOf(reader.text) === "data: first\n\n");
      assert.equal(requests.at(-1)!.signal.aborted, false);
      leave(reader.socket);
      const signal = requests.at(-1)!.signal;
      await until(() => signal.aborted);
      await until(() => returned === requests.length && counts.released === requests.length);
    }
    assert.deepEqual(errors, []);
  });

  it("is given up where its reader leaves before it has begun", async (t) => {
    const waiting = resource({ path: "/stream", summary: "Waits." });
    const asked: ResourceRequest[] = [];
    const resources = implementResourcesFor<object>()(
      { waiting },
      {
        waiting: (_context, _query, request) => {
          asked.push(request);
          return never(request.signal);
        },
      },
    );
    const { port, counts, errors } = await start(t, () => assert.fail(), { resources });
    const reader = open(t, port);
    await until(() => asked.length === 1);
    assert.equal(asked[0]!.signal.aborted, false);
    reader.socket.resetAndDestroy();
    await until(() => counts.released === 1);
    assert.deepEqual([asked[0]!.signal.aborted, errors], [true, []]);
  });

  it("ends when the server stops, which does not wait for it", async (t) => {
    const { server, port, requests } = await start(t, async function* ({ signal }) {
      yield { data: "first" };
      await never(signal);
    });
    const reader = open(t, port);
    const paused = open(t, port);
    await until(() => reader.text.endsWith("first\n\n") && paused.text.endsWith("first\n\n"));
    paused.socket.pause();
    // A wait for streams would last until the test run's own limit.
    await server.stop(3_600_000);
    await until(() => reader.hasEnded);
    assert.deepEqual(
      requests.map(({ signal }) => signal.aborted),
      [true, true],
    );
  });

  it("is one of a bounded number; more are refused until one ends", async (t) => {
    const endless: Source = async function* ({ signal }) {
      yield { data: "first" };
      await never(signal);
    };
    for (const limits of [{ streams: 2 }, { streamsPerAddress: 2 }]) {
      const { port, requests, counts } = await start(t, endless, { limits });
      const readers = [open(t, port), open(t, port)];
      await until(() => readers.every(({ text }) => text.endsWith("first\n\n")));
      const refused = open(t, port, { head: "Connection: close\r\n" });
      await until(() => refused.hasEnded);
      assert.match(refused.text, /^HTTP\/1\.1 503 /);
      const { error } = JSON.parse(bodyOf(refused.text));
      assert.deepEqual(error, { code: -32005, message: "Too many streams are open" });
      assert.deepEqual([requests[2]!.signal.aborted, counts.released], [true, 1]);
      readers[0]!.socket.end();
      await until(() => counts.released === 2);
      const next = open(t, port);
      await until(() => next.text.endsWith("first\n\n"));
    }
  });

  it("leaves the memory that it was given to those that follow", async (t) => {
    const once: Source = async function* () {
      yield { data: "only" };
    };
    const limits = { heldBytes: 2 ** 18 };
    const { port } = await start(t, once, { limits });
    for (let at = 0; at < 40; at++) {
      const reader = open(t, port);
      await until(() => reader.hasEnded);
      assert.match(reader.text, /^HTTP\/1\.1 200 (.|\r|\n)*data: only\n\n$/, `stream ${at}`);
    }
  });

  it("is not drawn for who wants its head alone, and ends the connection it was asked on", async (t) => {
    let drawn = 0;
    const { port, counts } = await start(t, async function* () {
      drawn++;
      yield { data: "" };
    });
    const reader = open(t, port, { method: "HEAD" });
    await until(() => reader.hasEnded);
    assert.match(reader.text, /Content-Type: text\/event-stream\r\n/);
    assert.equal(bodyOf(reader.text), "");
    assert.deepEqual([drawn, counts.released], [0, 1]);
  });

  it("ends where its handler fails or an event is too long, which is logged", async (t) => {
    const { port, errors, counts } = await start(
      t,
      async function* () {
        yield { data: "first" };
        if (errors.length === 0) throw new Error("broken");
        yield { data: "x".repeat(2000) };
      },
      { limits: { streamBytes: 2000 } },
    );
    for (let time = 1; time <= 2; time++) {
      const reader = open(t, port);
      await until(() => reader.hasEnded);
      assert.equal(bodyOf(reader.text), "data: first\n\n");
      assert.deepEqual([errors.length, counts.released], [time, time]);
    }
  });

  it("keeps nobody waiting while it has always more", async (t) => {
    let drawn = 0;
    const { port, requests } = await start(t, async function* () {
      for (;;) yield { data: `${drawn++}` };
    });
    const first = open(t, port);
    await until(() => drawn > 0);
    const second = open(t, port);
    await until(() => requests.length === 2 && second.text.includes("data: "));
    first.socket.destroy();
    second.socket.destroy();
    await until(() => requests.every(({ signal }) => signal.aborted));
  });

  it("waits for a slow reader with a bounded amount, and cuts it off when it takes nothing", async (t) => {
    const identity = createIdentity(Date.now());
    for (const tls of [false, true]) {
      let drawn = 0;
      const { port, requests, counts } = await start(
        t,
        async function* () {
          for (;;) {
            drawn++;
            yield { data: "x".repeat(100_000) };
          }
        },
        { limits: { slowMs: 500 }, ...(tls && { tls: { mode: "enabled", identity } }) },
      );
      const reader = open(t, port, { tls });
      await until(() => reader.text !== "");
      reader.socket.pause();
      await until(() => requests[0]!.signal.aborted);
      // What the system itself buffers for a connection is some megabytes.
      assert.ok(drawn < 500, `${drawn} events were drawn`);
      assert.equal(counts.released, 1);
    }
  });

  it("works over TLS", async (t) => {
    const source: Source = async function* ({ signal, lastEventId }) {
      yield { id: "2", data: `after ${lastEventId}` };
      await never(signal);
    };
    const tls = { mode: "enabled", identity: createIdentity(Date.now()) } as const;
    const { server, port, requests } = await start(t, source, { tls });
    const readers = [1, 2].map(() => open(t, port, { tls: true, head: "Last-Event-ID: 1\r\n" }));
    await until(() => readers.every(({ text }) => bodyOf(text) === "id: 2\ndata: after 1\n\n"));
    readers[0]!.socket.end();
    await until(() => requests.filter(({ signal }) => signal.aborted).length === 1);
    await server.stop(3_600_000);
    await until(() => readers[1]!.hasEnded);
    assert.ok(requests.every(({ signal }) => signal.aborted));
  });
});

/** A socket of which the test is the other end, and takes what it wants. */
class FakeSocket extends Duplex {
  setKeepAlive(): this {
    return this;
  }

  readonly remoteAddress = "127.0.0.1";
  sent = "";
  takes = true;
  #taken: (() => void) | undefined;
  override _read(): void {}
  override _write(chunk: Buffer, _encoding: string, done: () => void): void {
    this.sent += chunk.toString("latin1");
    if (this.takes) done();
    else this.#taken = done;
  }
  /** Takes what it was sent. */
  takeNext(): void {
    this.#taken?.();
  }
}

/** Responses that are ready are sent in the turn after this one. */
async function tick(): Promise<void> {
  for (let turn = 0; turn < 2; turn++) await new Promise((resolve) => setImmediate(resolve));
}

/** A stream of events that come when they are asked for, up to `count`. */
async function streaming(count: number, asked: Partial<Limits> = {}) {
  const limits = { ...defaultLimits, slowMs: 1000, heartbeatMs: 15_000, ...asked };
  const socket = new FakeSocket({ allowHalfOpen: true });
  const share = new CallerShare(limits, { isForStrangers: false });
  const state = { drawn: 0, ends: 0 };
  async function* events(): AsyncGenerator<ServerEvent> {
    while (state.drawn < count) {
      state.drawn++;
      yield { data: "x".repeat(92) };
    }
    await new Promise(() => {});
  }
  const source = { events: events(), longest: 1000, onFailure: assert.ifError, onEnd: () => {} };
  let resolve: (answer: HttpAnswer) => void = () => assert.fail("not asked");
  const answer = (): void =>
    resolve({
      head: "head",
      body: "",
      closes: true,
      stream: new EventStream(source, { maxWaitingBytes: 1000, onEnd: () => void state.ends++ }),
    });
  const http = new HttpConnection(
    socket as unknown as Socket,
    {
      limits,
      requestBytesOf: () => 0,
      open: (remoteAddress) => share.open(remoteAddress),
      screen: () => undefined,
      answer: () =>
        new Promise((made) => {
          resolve = made;
        }),
      closed: () => {},
    },
    new ResponseBatch(),
  );
  return {
    socket,
    http,
    state,
    async ask() {
      socket.push("GET / HTTP/1.1\r\n\r\n");
      await tick();
    },
    async begin() {
      await this.ask();
      await this.answer();
    },
    async answer() {
      answer();
      for (let i = 0; i < 20; i++) await tick();
    },
  };
}

describe("the connection of a stream", () => {
  it("is sent a comment while nothing happens, and is not cut for it", async () => {
    const { socket, http, ...caller } = await streaming(1);
    await caller.begin();
    const sent = `head${eventText({ data: "x".repeat(92) })}`;
    assert.equal(socket.sent, sent);
    const now = performance.now();
    for (let second = 1; second < 14; second++) http.checkTime(now + 1000 * second);
    assert.equal(socket.sent, sent);
    http.checkTime(now + 15_000);
    assert.equal(socket.sent, `${sent}:\n\n`);
    http.checkTime(now + 1_000_000);
    assert.equal(socket.sent, `${sent}:\n\n:\n\n`);
    assert.equal(socket.destroyed, false);
    http.cut();
  });

  it("holds no more than a bounded amount for a slow reader, who is cut off when it takes nothing", async () => {
    const { socket, http, state, ...caller } = await streaming(1_000_000);
    socket.takes = false;
    await caller.begin();
    // The head, nine events of a hundred bytes that are written, and one that waits to be.
    assert.equal(state.drawn, 10);
    assert.ok(socket.writableLength <= 1000);
    for (let taken = 1; taken <= 5; taken++) {
      socket.takeNext();
      for (let i = 0; i < 20; i++) await tick();
      assert.equal(state.drawn, 10 + taken);
      assert.ok(socket.writableLength <= 1000);
    }
    const now = performance.now();
    http.checkTime(now + 900);
    assert.equal(socket.destroyed, false);
    http.checkTime(now + 1100);
    assert.equal(socket.destroyed, true);
    assert.equal(state.ends, 1);
  });

  it("is cut where its caller has closed its side, or sends on and on", async () => {
    const ended = await streaming(0);
    await ended.begin();
    ended.socket.push(null);
    await once(ended.socket, "close");
    assert.equal(ended.state.ends, 1);
    const talking = await streaming(0);
    await talking.begin();
    talking.socket.push(Buffer.alloc(60_000));
    await tick();
    assert.equal(talking.socket.destroyed, false);
    talking.socket.push(Buffer.alloc(60_000));
    await once(talking.socket, "close");
    assert.equal(talking.state.ends, 1);
  });

  it("drops at a stop what its reader has not taken", async () => {
    const { socket, http, state, ...caller } = await streaming(5);
    socket.takes = false;
    await caller.begin();
    http.stop();
    assert.equal(socket.destroyed, true);
    assert.equal(state.ends, 1);
  });

  it("ends at once where the server stops, or its caller leaves, before it begins", async () => {
    const stopped = await streaming(0);
    await stopped.ask();
    stopped.http.stop();
    await stopped.answer();
    assert.equal(stopped.socket.sent, "head");
    assert.deepEqual([stopped.socket.destroyed, stopped.state.ends], [true, 1]);
    const halfClosed = await streaming(0);
    await halfClosed.ask();
    halfClosed.socket.push(null);
    await once(halfClosed.socket, "end");
    await halfClosed.answer();
    assert.equal(halfClosed.state.ends, 0);
    halfClosed.http.checkTime(performance.now() + 2500);
    assert.deepEqual([halfClosed.socket.destroyed, halfClosed.state.ends], [true, 1]);
    const gone = await streaming(0);
    await gone.ask();
    gone.socket.destroy();
    await once(gone.socket, "close");
    await gone.answer();
    assert.deepEqual([gone.socket.sent, gone.state.ends], ["", 1]);
  });
});
