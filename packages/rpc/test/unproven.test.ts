/** Connections to a port for few, before anybody was let through on them: few of each address, and none for long. */
import assert from "node:assert/strict";
import { connect, type Socket } from "node:net";
import { test } from "node:test";
import { setTimeout } from "node:timers/promises";
import { defaultLimits } from "../src/index.ts";
import { CallerShare } from "../src/server/caller-share.ts";
import { startListener } from "../src/server/http/listener.ts";
import { UnprovenConnections } from "../src/server/http/unproven.ts";

const MOST_OF_ADDRESS = 16;
const MOST_OF_STRANGERS = 64;
const PATIENCE_MS = 5000;

function start(mostOfKnown = 3) {
  const connections = new UnprovenConnections(mostOfKnown);
  const cut: string[] = [];
  /** A connection with a name, which is noted when it is cut. */
  const open = (name: string, address = name, now = 0): Socket => {
    const socket = {
      destroy() {
        cut.push(name);
        connections.remove(socket);
      },
    } as unknown as Socket;
    connections.add(socket, address, now);
    return socket;
  };
  const openAll = (count: number, address: string) =>
    Array.from({ length: count }, (_, i) => open(`${address} ${i}`, address));
  return { connections, cut, open, openAll };
}

test("an address that nobody knows has sixteen, and one more ends its oldest", () => {
  const { cut, open, openAll } = start();
  openAll(MOST_OF_ADDRESS, "a");
  open("other");
  assert.deepEqual(cut, []);
  open("a more", "a");
  open("a last", "a");
  assert.deepEqual(cut, ["a 0", "a 1"]);
});

test("of all addresses that nobody knows there are sixty-four, and one more ends the oldest", () => {
  const { connections, cut, open } = start();
  const sockets = Array.from({ length: MOST_OF_STRANGERS }, (_, i) => open(`${i}`));
  assert.deepEqual(cut, []);
  open("one more");
  assert.deepEqual(cut, ["0"]);
  connections.remove(sockets[1]!);
  open("in its place");
  assert.deepEqual(cut, ["0"]);
});

test("addresses that were let through share a bound of their own", () => {
  const { connections, cut, open, openAll } = start(3);
  connections.prove(open("known 0", "known"), "known");
  openAll(MOST_OF_ADDRESS, "a");
  for (const name of ["known 1", "known 2", "known 3"]) open(name, "known");
  assert.deepEqual(cut, []);
  open("known 4", "known");
  assert.deepEqual(cut, ["known 1"]);
});

test("256 addresses are remembered, the latest", () => {
  const isKnown = (count: number, address: string) => {
    const { connections, cut, open } = start(0);
    for (const i of [...Array(count).keys(), 1]) connections.prove(open(`${i}`), `${i}`);
    // Of those that are known none fits here, so the first of them goes when the second comes.
    open("first", address);
    open("second", address);
    return cut.length > 0;
  };
  assert.deepEqual(
    ["0", "2", "255"].map((address) => isKnown(256, address)),
    [true, true, true],
  );
  assert.deepEqual(
    ["0", "1", "2", "256"].map((address) => isKnown(257, address)),
    [false, true, true, true],
  );
});

test("who says nothing for five seconds is cut, known or not", () => {
  const { connections, cut, open } = start();
  connections.prove(open("known", "k"), "k");
  open("of known", "k", 10);
  open("stranger", "s", 20);
  connections.check(PATIENCE_MS + 10);
  assert.deepEqual(cut, []);
  connections.check(PATIENCE_MS + 11);
  assert.deepEqual(cut, ["of known"]);
  connections.check(PATIENCE_MS + 21);
  assert.deepEqual(cut, ["of known", "stranger"]);
});

test("a port for few looks regularly for those that say nothing, and leaves those who were let through", async (t) => {
  const limits = { ...defaultLimits, slowMs: 40, keepAliveMs: 3_600_000, heartbeatMs: 3_600_000 };
  const share = new CallerShare(limits, { isForStrangers: false });
  const listener = await startListener({
    host: "127.0.0.1",
    port: 0,
    isForFew: true,
    admit: () => true,
    maxConnections: 10,
    maxConnectionsOf: () => 10,
    onError: () => {},
    service: {
      limits,
      open: (address) => share.open(address),
      requestBytesOf: () => 1000,
      screen: () => undefined,
      answer: () => ({ head: "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", body: "", closes: false }),
    },
  });
  t.after(async () => {
    listener.cut();
    await listener.close();
  });
  const dial = () => connect(listener.address.port, "127.0.0.1").on("error", () => {});
  const [silent, talking] = [dial(), dial()];
  const closed = new Promise((resolve) => silent.once("close", resolve));
  const answered = new Promise((resolve) => talking.once("data", resolve));
  talking.write("GET / HTTP/1.1\r\n\r\n");
  await answered;
  for (let i = 0; i < 60_000 && listener.connectionCount() < 2; i++) await setTimeout(1);
  const { now } = performance;
  t.mock.method(performance, "now", () => now.call(performance) + PATIENCE_MS + 1);
  const end = setTimeout(300_000, "it is still there", { ref: false });
  assert.equal(await Promise.race([closed.then(() => "cut"), end]), "cut");
  assert.equal(talking.destroyed, false);
});
