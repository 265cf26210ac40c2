import assert from "node:assert/strict";
import type { Socket } from "node:net";
import { Duplex } from "node:stream";
import { describe, it } from "node:test";
import { defaultLimits, type Limits } from "../src/index.ts";
import { BytePieces } from "../src/schema/byte-pieces.ts";
import { type Caller, CallerShare } from "../src/server/caller-share.ts";
import { BadFraming, createBodyReader } from "../src/server/http/body-reader.ts";
import { HttpConnection, type HttpService } from "../src/server/http/connection.ts";
import type { HttpAnswer } from "../src/server/http/http-answer.ts";
import { parseRequestHead, type RequestHead } from "../src/server/http/request-head.ts";
import { ResponseBatch } from "../src/server/http/response-batch.ts";

const head = (...lines: string[]): RequestHead | undefined => parseRequestHead(lines.join("\r\n"));

describe("request head", () => {
  it("tells what is wanted of a request", () => {
    const facts = head(
      "POST /json_rpc HTTP/1.1",
      "host: x",
      "CONTENT-LENGTH:  12",
      "Origin: http://a.b",
      "Content-type: text/plain",
      "Sec-Fetch-Site: Cross-Site",
      "idempotency-key:  one ",
      "Accept: text/event-stream",
      "accept: application/json;q=0.5",
      "last-event-id: abc_7",
      "X-Request-Id:  r-1 ",
      "expect:100-continue",
    );
    assert.deepEqual(facts, {
      method: "POST",
      target: "/json_rpc",
      length: 12,
      saysClose: false,
      isLast: false,
      expectsContinue: true,
      authorization: undefined,
      origin: "http://a.b",
      contentType: "text/plain",
      host: "x",
      fetchSite: "cross-site",
      acceptLanguage: undefined,
      fetchMode: undefined,
      requestId: "r-1",
      idempotencyKey: "one",
      accept: "text/event-stream,application/json;q=0.5",
      lastEventId: "abc_7",
    });
    assert.equal(head("GET / HTTP/1.1")?.length, 0);
    assert.equal(head("GET / HTTP/1.1", "Connection: keep-alive, Close")?.saysClose, true);
    assert.equal(head("GET / HTTP/1.0")?.isLast, true);
    assert.equal(head("GET / HTTP/1.0", "connection: Keep-Alive")?.isLast, false);
    assert.equal(head("POST / HTTP/1.1", "Transfer-Encoding: chunked")?.length, undefined);
    for (const value of ["3", " 3", "3 ", " \t 3\t ", "\t3"])
      assert.equal(head("POST / HTTP/1.1", `Content-Length:${value}`)?.length, 3);
    assert.equal(head("POST / HTTP/1.1", "Host: ")?.host, "");
  });

  it("refuses what leaves a doubt", () => {
    const refused = [
      ["GET / HTTP/2.0"],
      ["GET  / HTTP/1.1"],
      ["get / HTTP/1.1"],
      ["GET / HTTP/1.1 "],
      ["hello there"],
      [""],
      ["POST / HTTP/1.1", "Content-Length: 1", "Content-Length: 1"],
      ["POST / HTTP/1.1", "Content-Length: -1"],
      ["POST / HTTP/1.1", "Idempotency-Key: a", "Idempotency-Key: a"],
      ["GET / HTTP/1.1", "Last-Event-ID: 1", "Last-Event-ID: 2"],
      ["POST / HTTP/1.1", "Content-Length: 1, 1"],
      ["POST / HTTP/1.1", "Content-Length: 0x10"],
      ["POST / HTTP/1.1", "Content-Length: 9999999999999999"],
      ["POST / HTTP/1.1", "Content-Length: 3", "Transfer-Encoding: chunked"],
      ["POST / HTTP/1.1", "Transfer-Encoding: chunked", "Transfer-Encoding: chunked"],
      ["POST / HTTP/1.1", "Transfer-Encoding: gzip, chunked"],
      // Programs before us would take these for something else.
      ["POST / HTTP/1.1", "Transfer-Encoding: \xa0chunked"],
      ["POST / HTTP/1.1", "Content-Length: 3\xa0"],
      ["POST / HTTP/1.0", "Transfer-Encoding: chunked"],
      ["POST / HTTP/1.1", "Content-Length : 3"],
      ["POST / HTTP/1.1", " folded: 3"],
      ["POST / HTTP/1.1", "X: a\nContent-Length: 3"],
      ["POST / HTTP/1.1", "X: a\0"],
      ["POST / HTTP/1.1", "no colon"],
    ];
    for (const lines of refused) assert.equal(head(...lines), undefined, lines.join("|"));
  });

  it("takes time in proportion to the length of lines", () => {
    // What is quadratic needs minutes for these: the test run's own limit ends it.
    assert.equal(head("GET / HTTP/1.1", "a".repeat(5_000_000)), undefined);
    assert.ok(head("GET / HTTP/1.1", ...Array(50_000).fill("a: b")) !== undefined);
  });
});

function chunked(maxBytes = 100) {
  return createBodyReader(head("POST / HTTP/1.1", "Transfer-Encoding: chunked")!, { maxBytes, keep: true });
}

describe("body", () => {
  it("is read from chunks however they are cut", () => {
    const wire = Buffer.from("3\r\nabc\r\nA;x=1\r\n0123456789\r\n0\r\nTrailer: 1\r\n\r\nNEXT");
    for (let size = 1; size <= wire.length; size++) {
      const reader = chunked();
      let rest: Buffer | undefined;
      let at = 0;
      while (rest === undefined) {
        rest = reader.take(wire.subarray(at, at + size));
        at += size;
      }
      assert.equal(reader.body().toString(), "abc0123456789");
      assert.equal(Buffer.concat([rest, wire.subarray(at)]).toString(), "NEXT");
    }
  });

  it("refuses chunks that are none", () => {
    const bad = ["x\r\n", "\r\n", "3\r\nabcd\r\n", "3\nabc", "-1\r\n", `${"0".repeat(2000)}`, "0x3\r\n"];
    for (const text of bad) assert.throws(() => chunked().take(Buffer.from(text)), BadFraming, text);
    const trailer = `0\r\n${"a: b\r\n".repeat(2000)}`;
    assert.throws(() => chunked().take(Buffer.from(trailer)), BadFraming);
  });

  it("says at once that it is too large", () => {
    const reader = chunked(10);
    reader.take(Buffer.from("ffffffff\r\n"));
    assert.equal(reader.isTooLarge(), true);
    const plain = createBodyReader(head("POST / HTTP/1.1", "Content-Length: 11")!, {
      maxBytes: 10,
      keep: true,
    });
    assert.equal(plain.isTooLarge(), true);
  });

  it("takes no more memory for small pieces than for large ones", () => {
    const reader = createBodyReader(head("POST / HTTP/1.1", "Content-Length: 100000")!, {
      maxBytes: 100_000,
      keep: true,
    });
    for (let i = 0; i < 99_999; i++) reader.take(Buffer.from("x"));
    assert.ok(reader.bufferedBytes() <= 300_000);
    assert.equal(reader.take(Buffer.from("xy"))?.toString(), "y");
    assert.equal(reader.body().length, 100_000);
  });
});

/** A socket of which the test is the other end. */
class FakeSocket extends Duplex {
  setKeepAlive(): this {
    return this;
  }

  readonly remoteAddress = "127.0.0.1";
  sent = "";
  timeoutMs = 0;
  override _read(): void {}
  override _write(chunk: Buffer, _encoding: string, done: () => void): void {
    this.sent += chunk.toString("latin1");
    done();
  }
  setTimeout(timeoutMs: number): void {
    this.timeoutMs = timeoutMs;
  }
}

type Answering = (answer: HttpAnswer) => void;

/** `shareOfAll` is that of several connections. */
function connection(limits: Partial<Limits> = {}, shareOfAll?: CallerShare) {
  const socket = new FakeSocket({ allowHalfOpen: true });
  const waiting: Answering[] = [];
  const asked = { ...defaultLimits, headerBytes: 1000, slowMs: 1000, keepAliveMs: 5000, heldBytes: 20_000 };
  const all = { ...asked, ...limits };
  const share = shareOfAll ?? new CallerShare(all, { isForStrangers: false });
  const callers: Caller[] = [];
  const service: HttpService = {
    limits: all,
    requestBytesOf: () => limits.requestBytes ?? 1000,
    open(remoteAddress) {
      callers.push(share.open(remoteAddress));
      return callers.at(-1)!;
    },
    screen: () => undefined,
    answer: () => new Promise<HttpAnswer>((resolve) => waiting.push(resolve)),
    closed: () => {},
  };
  const http = new HttpConnection(socket as unknown as Socket, service, new ResponseBatch());
  return { socket, waiting, http, share, caller: callers[0]!, held: () => share.heldBytes };
}

const request = (length: number) => `POST / HTTP/1.1\r\nContent-Length: ${length}\r\n\r\n`;
const MiB = 1024 * 1024;
/** Responses that are ready are sent in the turn after this one. */
async function tick(): Promise<void> {
  for (let turn = 0; turn < 2; turn++) await new Promise((resolve) => setImmediate(resolve));
}

/** On a busy machine a turn may end before all of the input is looked at. */
async function tickUntil(condition: () => boolean): Promise<void> {
  for (let turns = 0; turns < 1000 && !condition(); turns++) await tick();
}

async function assertCutOff(socket: Duplex): Promise<void> {
  await tickUntil(() => socket.destroyed);
  assert.equal(socket.destroyed, true);
}

describe("connection", () => {
  it("reads no further while too much waits behind a request", async () => {
    const { socket, waiting } = connection();
    socket.push(request(0));
    await tick();
    socket.push(request(0).repeat(3000));
    await tick();
    assert.equal(waiting.length, 1);
    assert.equal(socket.isPaused(), true);
    waiting[0]!({ head: "one", body: "", closes: false });
    await tick();
    // Where the first turn was long, what waits is taken in the next.
    await tick();
    assert.equal(waiting.length, 2);
    assert.equal(socket.sent, "one");
    assert.equal(socket.isPaused(), true, "an answer makes room for no more than it took");
  });

  it("reads on once little waits, and what is missing of a request", async () => {
    const { socket, waiting } = connection({ requestBytes: 100_000, heldBytes: 1_000_000 });
    socket.push(request(0));
    await tick();
    const many = Math.ceil((64 * 1024) / request(0).length);
    socket.push(request(0).repeat(many) + request(80_000) + "x".repeat(70_000));
    await tick();
    assert.equal(socket.isPaused(), true);
    let answered = 0;
    const answerAll = async () => {
      for (; answered < waiting.length; await tick()) {
        waiting[answered++]!({ head: "", body: "", closes: false });
        await tick();
      }
    };
    await answerAll();
    assert.equal(answered, 1 + many);
    assert.equal(socket.isPaused(), false);
    socket.push("x".repeat(10_000));
    await tick();
    await answerAll();
    assert.equal(answered, 2 + many);
  });

  it("reads no more of a body while strangers have used up their time", async () => {
    const { socket, share } = connection({ eventLoopShare: 1, requestBytes: 100_000, heldBytes: 1_000_000 });
    socket.push(`${request(50_000)}${"x".repeat(100)}`);
    await tick();
    assert.equal(socket.isPaused(), false);
    share.charge(1_000_000);
    socket.push("x".repeat(100));
    await tick();
    assert.equal(socket.isPaused(), true);
    assert.ok(share.waitMs > 900_000);
    socket.destroy();
  });

  it("reads one piece of the long bodies of all strangers in a turn of the event loop", async () => {
    const limits = { requestBytes: 100_000, heldBytes: 1_000_000, heldBytesPerAddress: 1_000_000 };
    const share = new CallerShare({ ...defaultLimits, ...limits }, { isForStrangers: true });
    const sockets = Array.from({ length: 3 }, () => connection(limits, share).socket);
    /** Those of which pieces were read, in order. */
    const readers: number[] = [];
    for (const [i, socket] of sockets.entries()) {
      socket.emit("data", Buffer.from(request(100_000) + "x".repeat(20_000)));
      socket.resume = () => {
        readers.push(i);
        socket.emit("data", Buffer.alloc(20_000));
        return socket;
      };
    }
    assert.deepEqual(
      sockets.map((socket) => socket.isPaused()),
      [true, true, true],
    );
    for (const expected of [[0], [0, 1], [0, 1, 2], [0, 1, 2, 0], [0, 1, 2, 0, 1]]) {
      await new Promise((resolve) => setImmediate(resolve));
      assert.deepEqual(readers, expected);
    }
    for (const socket of sockets) socket.destroy();
  });

  it("reads on at once where a stranger sends little at a time, or the owner a long body", async () => {
    const limits = { requestBytes: 100_000, heldBytes: 1_000_000, heldBytesPerAddress: 1_000_000 };
    const strangers = new CallerShare({ ...defaultLimits, ...limits }, { isForStrangers: true });
    for (const { socket, size } of [
      { socket: connection(limits, strangers).socket, size: 1000 },
      { socket: connection(limits).socket, size: 50_000 },
    ]) {
      socket.emit("data", Buffer.from(request(100_000)));
      socket.emit("data", Buffer.alloc(size));
      assert.equal(socket.isPaused(), false);
      socket.destroy();
    }
  });

  it("counts the bytes that it receives and sends", async () => {
    const { socket, share, waiting } = connection({
      eventLoopShare: 1e-9,
      requestBytes: 10 * MiB,
      heldBytes: 100 * MiB,
    });
    share.charge(500);
    socket.push(Buffer.concat([Buffer.from(request(5 * MiB)), Buffer.alloc(5 * MiB)]));
    await tick();
    const receivedMs = share.waitMs * 1e-9;
    assert.ok(receivedMs > 19.9, `${receivedMs} ms`);
    waiting[0]!({ head: "", body: "x".repeat(10 * MiB), closes: false });
    await tick();
    const sentMs = share.waitMs * 1e-9 - receivedMs;
    assert.ok(sentMs > 9.9, `${sentMs} ms`);
    socket.destroy();
  });

  it("cuts off who is slow to send, and who keeps a connection without using it", async () => {
    for (const begun of ["", "POST ", request(10), `${request(10)}abc`]) {
      const { socket, http } = connection();
      socket.push(begun);
      await tick();
      const now = performance.now();
      http.checkTime(now + 900);
      assert.equal(socket.destroyed, false);
      http.checkTime(now + (begun === "" ? 5001 : 1500));
      assert.equal(socket.destroyed, true);
    }
  });

  it("cuts off who sends a head too long or none", async () => {
    for (const bytes of ["x".repeat(1001), "hello there\r\n\r\n", `${request(3)}abcGARBAGE\r\n\r\n`]) {
      const { socket, waiting } = connection();
      socket.push(bytes);
      await tickUntil(() => socket.destroyed || waiting.length > 0);
      waiting[0]?.({ head: "", body: "", closes: false });
      await assertCutOff(socket);
    }
  });

  it("passes over empty lines before a request, whether it is one of many or the first", async () => {
    const { socket, waiting, http } = connection();
    const first = `\r\n\r\n${request(1)}x\r\n`;
    // In pieces of a byte, an empty line comes in two.
    for (const byte of first) socket.push(byte);
    await tickUntil(() => waiting.length === 1);
    waiting[0]!({ head: "one", body: "", closes: false });
    await tick();
    http.checkTime(performance.now() + 2000);
    assert.equal(socket.destroyed, false, "an empty line begins no request that could be slow");
    socket.push(`\r\n${request(0)}`);
    await tickUntil(() => waiting.length === 2);
    assert.equal(waiting.length, 2);
    waiting[1]!({ head: "two", body: "", closes: false });
    await tick();
    socket.push("\r\n".repeat(20));
    await assertCutOff(socket);
  });

  it("gives memory back when a caller leaves", async () => {
    const { socket, held } = connection({ requestBytes: 100_000 });
    socket.push(`${request(5000)}${"x".repeat(100)}`);
    await tick();
    assert.ok(held() > 0);
    socket.destroy();
    await tick();
    assert.equal(held(), 0);
  });

  it("ends a connection when all together hold too much", async () => {
    const { socket, held } = connection({ requestBytes: 100_000 });
    socket.push(`${request(50_000)}${"x".repeat(20_000)}`);
    await assertCutOff(socket);
    assert.equal(held(), 0);
  });

  it("answers what was asked before the caller stopped sending", async () => {
    const { socket, waiting } = connection();
    socket.push(request(0));
    socket.push(null);
    await tick();
    waiting[0]!({ head: "one", body: "", closes: false });
    await tick();
    assert.equal(socket.sent, "one");
    await assertCutOff(socket);
  });

  it("sends a response that is ready when its service stops, and none on a connection that was cut", async () => {
    const cost = { requestBytes: 1, memoryBytes: 1, rows: 1, responseBytes: 1000 };
    /** A connection whose response is ready, but not sent. */
    const ready = async () => {
      const { socket, waiting, http, share, caller } = connection();
      const { hold } = (await share.admit(caller, cost))!;
      socket.push(request(0));
      await tick();
      waiting[0]!({ head: "head", body: "whole", closes: false, hold });
      for (let steps = 0; steps < 5; steps++) await undefined;
      assert.deepEqual([socket.sent, share.heldBytes], ["", 1000]);
      return { socket, http, share };
    };
    const stopped = await ready();
    stopped.http.giveUp();
    assert.deepEqual([stopped.socket.sent, stopped.share.heldBytes], ["headwhole", 0]);
    const cut = await ready();
    cut.http.cut();
    let writes = 0;
    cut.socket.write = () => ++writes > 0;
    await tick();
    assert.deepEqual([writes, cut.share.heldBytes], [0, 0]);
  });

  it("gives back memory as bytes of an answer leave, and cuts off who takes them too slowly", async () => {
    // Closes: memory that is counted as held until the last byte of a long answer was taken.
    const { socket, waiting, http, share, caller } = connection({
      leastRate: 64 * 1024,
      heldBytes: 10 * MiB,
    });
    const taken: (() => void)[] = [];
    socket._write = (_chunk: Buffer, _encoding: string, done: () => void) => void taken.push(done);
    const cost = { requestBytes: 1, memoryBytes: 1, rows: 1, responseBytes: MiB };
    const { hold } = (await share.admit(caller, cost))!;
    socket.push(request(0));
    await tick();
    waiting[0]!({ head: "head", body: "x".repeat(MiB), closes: false, hold });
    await tick();
    assert.equal(share.heldBytes, MiB);
    let before = share.heldBytes;
    for (let pieces = 0; pieces < 8; pieces++) {
      taken.shift()!();
      await tick();
      assert.ok(share.heldBytes <= before);
      before = share.heldBytes;
    }
    assert.ok(share.heldBytes <= 0.6 * MiB, `${share.heldBytes} are held`);
    const begun = performance.now();
    http.checkTime(begun + 1001);
    assert.equal(socket.destroyed, false, "so much was taken in a second");
    http.checkTime(begun + 2100);
    assert.equal(socket.destroyed, true, "and nothing in the next");
    assert.equal(share.heldBytes, 0);
  });

  it("answers a request that was on its way when the server began to stop", async (t) => {
    // Closes: a stop that ends the connection of who has asked already, without a word.
    t.mock.timers.enable({ apis: ["setTimeout"] });
    const { socket, waiting, http } = connection();
    const idle = connection();
    http.stop();
    idle.http.stop();
    socket.push(request(0));
    await tick();
    t.mock.timers.tick(1000);
    assert.equal(idle.socket.destroyed, true);
    waiting[0]!({ head: "one", body: "", closes: false });
    await tick();
    assert.equal(socket.sent, "one");
    assert.equal(socket.writableEnded, true, "nothing follows");
  });

  it("sends a long answer as it is, in text, in bytes and in pieces", async () => {
    const { socket, waiting } = connection();
    const body = Buffer.from(Array.from({ length: 300_000 }, (_, i) => i & 0xff));
    const pieces = [body.subarray(0, 7), body.subarray(7, 100_000), body.subarray(100_000)];
    for (const form of [body, body.toString("latin1"), new BytePieces(pieces)]) {
      socket.sent = "";
      socket.push(request(0));
      await tick();
      waiting.shift()!({ head: "head", body: form, closes: false });
      while (socket.sent.length < 4 + body.length) await tick();
      assert.ok(socket.sent === `head${body.toString("latin1")}`);
    }
    socket.sent = "";
    socket.push(request(0));
    await tick();
    waiting.shift()!({ head: "head", body: new BytePieces([body.subarray(0, 7)]), closes: false });
    await tick();
    assert.equal(socket.sent, `head${body.toString("latin1", 0, 7)}`);
  });
});
