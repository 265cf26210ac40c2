import assert from "node:assert/strict";
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { type TestContext, test } from "node:test";
import { setImmediate as turn } from "node:timers/promises";
import { silent } from "../src/log/logger.ts";
import { BadEndpoint, parseZmqEndpoint } from "../src/zmq/endpoint.ts";
import { startZmqPublisher, type ZmqPublisher } from "../src/zmq/publisher.ts";
import { type ZmqLimits, zmqLimits } from "../src/zmq/zmq-limits.ts";
import { commandFrame, frame, greeting, readyFrame } from "../src/zmq/zmtp.ts";

const topics = ["json-full-chain_main", "json-minimal-chain_main"];
const minimal = topics[1]!;

async function publish(
  t: TestContext,
  limits: Partial<ZmqLimits> = {},
  now?: () => number,
): Promise<ZmqPublisher> {
  const endpoints = [parseZmqEndpoint("tcp://127.0.0.1:*")];
  const publisher = await startZmqPublisher({
    endpoints,
    topics,
    log: silent,
    limits: { ...zmqLimits, ...limits },
    now,
  });
  t.after(() => publisher.stop());
  return publisher;
}

/** What a subscriber has read, and its end. */
class Peer {
  readonly socket: Socket;
  received = Buffer.alloc(0);
  isClosed = false;

  constructor(publisher: ZmqPublisher) {
    this.socket = connect(Number(publisher.addresses[0]!.split(":").at(-1)), "127.0.0.1");
    this.socket.on("data", (chunk) => {
      this.received = Buffer.concat([this.received, chunk]);
    });
    this.socket.on("error", () => {});
    this.socket.on("close", () => {
      this.isClosed = true;
    });
  }

  send(...parts: readonly Uint8Array[]): this {
    this.socket.write(Buffer.concat(parts));
    return this;
  }
}

const subscription = (prefix: string) => frame(0, Buffer.concat([Buffer.of(1), Buffer.from(prefix)]));
const cancellation = (prefix: string) => frame(0, Buffer.concat([Buffer.of(0), Buffer.from(prefix)]));
const ready = readyFrame("SUB");
const HANDSHAKE_BYTES = greeting().length + readyFrame("XPUB").length;

/** Waits for what the event loop brings; never by the clock. */
async function eventually(isSo: () => boolean): Promise<void> {
  for (let i = 0; i < 20_000 && !isSo(); i++) await turn();
  assert.ok(isSo());
}

async function subscribed(publisher: ZmqPublisher, prefix = minimal): Promise<Peer> {
  const peer = new Peer(publisher).send(greeting(), ready, subscription(prefix));
  await eventually(() => peer.received.length === HANDSHAKE_BYTES && publisher.isWanted(minimal));
  return peer;
}

test("xmrig's bytes: a greeting in two parts, READY as a short command, a subscription as a message", async (t) => {
  const publisher = await publish(t);
  // Source: xmrig, DaemonClient.cpp.
  const hello = Buffer.alloc(64);
  hello.set([0xff, 0, 0, 0, 0, 0, 0, 0, 0, 127, 3, 0]);
  hello.write("NULL", 12);
  const peer = new Peer(publisher).send(hello.subarray(0, 11));
  await eventually(() => peer.received.length >= 64);
  assert.deepEqual([peer.received[0], peer.received[9], peer.received[10]], [0xff, 127, 3]);
  assert.deepEqual(peer.received.subarray(12, 32), hello.subarray(12, 32));
  peer.send(hello.subarray(11), Buffer.from("\x04\x19\x05READY\x0bSocket-Type\0\0\0\x03SUB", "latin1"));
  await eventually(() => peer.received.length === HANDSHAKE_BYTES);
  const answer = peer.received.subarray(64);
  assert.deepEqual([answer[0], answer[1]! >= 18 && answer[1]! < 256], [4, true]);
  assert.equal(answer.subarray(2, 20).toString("latin1"), "\x05READY\x0bSocket-Type");
  peer.send(Buffer.from(`\0\x18\x01${minimal}`, "latin1"));
  await eventually(() => publisher.isWanted(minimal));
  assert.equal(publisher.isWanted(topics[0]!), false);
  publisher.publish(minimal, "{}");
  await eventually(() => peer.received.length > HANDSHAKE_BYTES);
  const body = Buffer.from(`${minimal}:{}`);
  assert.deepEqual(peer.received.subarray(HANDSHAKE_BYTES), Buffer.concat([Buffer.of(0, body.length), body]));
});

test("subscriptions come as commands, too, are counted by topic and end", async (t) => {
  const publisher = await publish(t);
  const peer = new Peer(publisher).send(greeting(), ready);
  peer.send(commandFrame("SUBSCRIBE", Buffer.from("json-")), subscription("json-"), subscription("other"));
  await eventually(() => topics.every((topic) => publisher.isWanted(topic)));
  peer.send(commandFrame("CANCEL", Buffer.from("json-")));
  await eventually(() => !topics.some((topic) => publisher.isWanted(topic)));
  peer.send(subscription(""));
  await eventually(() => publisher.isWanted(minimal));
  peer.send(cancellation(""), subscription(topics[0]!));
  await eventually(() => !publisher.isWanted(minimal));
  peer.socket.destroy();
  await eventually(() => publisher.connectionCount === 0 && !publisher.isWanted(topics[0]!));
});

test("a ping is answered with its context", async (t) => {
  const publisher = await publish(t);
  const peer = await subscribed(publisher);
  peer.send(commandFrame("PING", Buffer.from("\0\x0ahere", "latin1")));
  const pong = commandFrame("PONG", Buffer.from("here"));
  await eventually(() => peer.received.length === HANDSHAKE_BYTES + pong.length);
  assert.deepEqual(peer.received.subarray(HANDSHAKE_BYTES), pong);
});

test("long messages have a long frame and arrive whole", async (t) => {
  const publisher = await publish(t);
  const peer = await subscribed(publisher);
  const text = "x".repeat(3_000_000);
  publisher.publish(minimal, text);
  const bytes = frame(0, Buffer.from(`${minimal}:${text}`));
  await eventually(() => peer.received.length === HANDSHAKE_BYTES + bytes.length);
  assert.ok(peer.received.subarray(HANDSHAKE_BYTES).equals(bytes));
});

const hostile: Readonly<Record<string, readonly Uint8Array[]>> = {
  "another protocol": [Buffer.from("GET / HTTP/1.1\r\n\r\n")],
  "an older version": [Buffer.from([0xff, 0, 0, 0, 0, 0, 0, 0, 1, 0x7f, 1])],
  "another mechanism": [Buffer.from(greeting()).fill("PLAIN\0", 12, 18)],
  "a message before READY": [greeting(), subscription("")],
  "another command before READY": [greeting(), commandFrame("PING", Buffer.alloc(2))],
  "a socket that does not subscribe": [greeting(), readyFrame("REQ")],
  "READY without a type": [greeting(), commandFrame("READY", Buffer.alloc(0))],
  "a property that is cut off": [
    greeting(),
    commandFrame("READY", Buffer.from("\x0bSocket-Type\0\0\0\x09SUB", "latin1")),
  ],
  "unknown flags": [greeting(), ready, Buffer.of(8, 0)],
  "a command of many frames": [greeting(), ready, Buffer.of(5, 0)],
  "a command without a name": [greeting(), ready, Buffer.of(4, 1, 9)],
  "a length of 64 bits": [greeting(), ready, Buffer.of(2, 255, 255, 255, 255, 255, 255, 255, 255)],
  "a frame that is too long": [greeting(), ready, frame(0, Buffer.alloc(zmqLimits.receivedFrameBytes + 1))],
  "a ping with a long context": [greeting(), ready, commandFrame("PING", Buffer.alloc(19))],
  "too many subscriptions": [
    greeting(),
    ready,
    ...Array.from({ length: 101 }, (_, i) => subscription(`${i}`)),
  ],
  "subscriptions that are too long together": [
    greeting(),
    ready,
    ...Array.from({ length: 5 }, (_, i) => subscription(`${i}${"x".repeat(2000)}`)),
  ],
  "frames without end": [greeting(), ready, ...Array<Uint8Array>(3000).fill(subscription("json"))],
};

for (const [what, parts] of Object.entries(hostile)) {
  test(`${what} ends the connection, byte by byte too, and no other`, async (t) => {
    const publisher = await publish(t);
    const honest = await subscribed(publisher);
    const atOnce = new Peer(publisher).send(...parts);
    await eventually(() => atOnce.isClosed);
    const bytes = Buffer.concat(parts);
    const slowly = new Peer(publisher);
    await once(slowly.socket, "connect");
    if (bytes.length < 400) for (const byte of bytes) slowly.send(Buffer.of(byte));
    else slowly.send(bytes);
    await eventually(() => slowly.isClosed);
    publisher.publish(minimal, "{}");
    await eventually(() => honest.received.length > HANDSHAKE_BYTES);
    assert.equal(publisher.connectionCount, 1);
  });
}

test("a subscriber that stops reading is dropped within its limit, and nobody else misses a message", async (t) => {
  const publisher = await publish(t);
  const reader = await subscribed(publisher);
  const sleeper = await subscribed(publisher);
  sleeper.socket.pause();
  const text = "x".repeat(50_000);
  const bytes = frame(0, Buffer.from(`${minimal}:${text}`)).length;
  let most = 0;
  let sent = 0;
  while (publisher.connectionCount === 2 && sent < 2000) {
    publisher.publish(minimal, text);
    sent++;
    most = Math.max(most, publisher.unread);
    await eventually(() => reader.received.length === HANDSHAKE_BYTES + sent * bytes);
    // What was read is not looked at again.
    if (sent % 20 === 0) [reader.received, sent] = [reader.received.subarray(0, HANDSHAKE_BYTES), sent - 20];
  }
  assert.equal(publisher.connectionCount, 1);
  assert.ok(most <= zmqLimits.unreadBytes && most > zmqLimits.unreadBytes / 2, `${most} bytes`);
});

test("handshakes and reading take place in time, or the connection ends", async (t) => {
  let time = 0;
  const publisher = await publish(t, {}, () => time);
  const half = new Peer(publisher).send(greeting().subarray(0, 20));
  const reader = await subscribed(publisher);
  await eventually(() => publisher.connectionCount === 2);
  time = zmqLimits.handshakeMs;
  publisher.checkTime();
  assert.equal(publisher.connectionCount, 2);
  time++;
  publisher.checkTime();
  await eventually(() => half.isClosed);
  assert.deepEqual([publisher.connectionCount, reader.isClosed], [1, false]);
  reader.socket.pause();
  for (let i = 0; i < 1000 && publisher.unread < 1000; i++) {
    publisher.publish(minimal, "x".repeat(60_000));
    await turn();
  }
  time += zmqLimits.stalledMs + 1;
  publisher.checkTime();
  assert.equal(publisher.connectionCount, 0);
});

test("where there is no room, one that wants nothing goes; subscribers stay", async (t) => {
  const publisher = await publish(t, { connections: 3 });
  const subscribers = [await subscribed(publisher), await subscribed(publisher)];
  const idle = new Peer(publisher).send(greeting());
  await eventually(() => publisher.connectionCount === 3 && idle.received.length >= 64);
  const third = await subscribed(publisher);
  await eventually(() => idle.isClosed);
  const late = new Peer(publisher);
  await eventually(() => late.isClosed);
  publisher.publish(minimal, "{}");
  for (const { received } of [...subscribers, third]) assert.ok(received.length >= HANDSHAKE_BYTES);
  await eventually(() => [...subscribers, third].every((it) => it.received.length > HANDSHAKE_BYTES));
});

test("endpoints are those of the original; others are refused", () => {
  const text = "tcp://127.0.0.1:18083";
  assert.deepEqual(parseZmqEndpoint(text), { text, kind: "tcp", host: "127.0.0.1", port: 18083 });
  const parsed = ["tcp://*:1", "tcp://[::1]:2", "tcp://localhost:*", "ipc:///tmp/x", "ipc://@x"].map((it) => {
    const endpoint = parseZmqEndpoint(it);
    return endpoint.kind === "tcp" ? `${endpoint.host} ${endpoint.port}` : endpoint.path;
  });
  assert.deepEqual(parsed, ["0.0.0.0 1", "::1 2", "localhost 0", "/tmp/x", "\0x"]);
  for (const bad of ["127.0.0.1:1", "", "tcp://127.0.0.1", "tcp://127.0.0.1:99999", "udp://x:1", "ipc://*"])
    assert.throws(() => parseZmqEndpoint(bad), BadEndpoint);
});

test("an endpoint that is in use is refused, and nothing listens", async (t) => {
  const publisher = await publish(t);
  const endpoints = [parseZmqEndpoint("tcp://127.0.0.1:*"), parseZmqEndpoint(publisher.addresses[0]!)];
  await assert.rejects(startZmqPublisher({ endpoints, topics, log: silent }), { code: "EADDRINUSE" });
});
