/** How many connections a port keeps open for one address. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { connect, Server, type Socket } from "node:net";
import { test } from "node:test";
import { CallerShare } from "../src/server/caller-share.ts";
import { startListener } from "../src/server/http/listener.ts";
import { defaultLimits } from "../src/server/limits.ts";

const ANSWER = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";

async function listen(maxConnectionsOf: (address: string) => number) {
  const share = new CallerShare(defaultLimits, { isForStrangers: false });
  return startListener({
    host: "127.0.0.1",
    port: 0,
    admit: () => true,
    maxConnections: 100,
    maxConnectionsOf,
    onError: () => {},
    service: {
      limits: defaultLimits,
      open: (address) => share.open(address),
      requestBytesOf: () => 1000,
      screen: () => undefined,
      answer: () => ({ head: ANSWER, body: "", closes: false }),
    },
  });
}

test("64 bits of IPv6 are one address, whose connections are bounded together", async (t) => {
  const callers: string[] = [];
  const { emit } = Server.prototype;
  // Loopback has a single address of IPv6: each connection is made to look as if it came from another one.
  t.mock.method(Server.prototype, "emit", function (this: Server, event: string, ...args: unknown[]) {
    if (event === "connection") Object.defineProperty(args[0], "remoteAddress", { value: callers.shift() });
    return emit.call(this, event as never, ...(args as never[]));
  });
  const listener = await listen(() => 2);
  t.after(async () => {
    listener.cut();
    await listener.close();
  });
  const isServed = async (address: string): Promise<Socket | undefined> => {
    callers.push(address);
    const socket = connect(listener.address.port, "127.0.0.1").on("error", () => {});
    socket.write("GET / HTTP/1.1\r\n\r\n");
    const isAnswered = await Promise.race([
      once(socket, "data").then(() => true),
      once(socket, "close").then(() => false),
    ]);
    return isAnswered ? socket : undefined;
  };
  const first = await isServed("2001:db8:0:1::1");
  assert.ok(first);
  assert.ok(await isServed("2001:db8:0:1:ffff:ffff:ffff:ffff"));
  assert.equal(await isServed("2001:db8:0:1::3"), undefined, "the third of the same 64 bits");
  const other = await isServed("2001:db8:0:2::1");
  assert.ok(other);
  first.destroy();
  for (let left = 3; left > 2; left = listener.connectionCount()) await new Promise(setImmediate);
  assert.ok(await isServed("2001:db8:0:1::3"), "once one of them has left");
  assert.equal(await isServed("2001:db8:0:1::4"), undefined);
  other.destroy();
  while (listener.connectionCount() > 2) await new Promise(setImmediate);
  assert.ok(await isServed("2001:db8:0:2::2"), "once all of them have left");
  assert.ok(await isServed("2001:db8:0:2::3"));
  assert.equal(await isServed("2001:db8:0:2::4"), undefined);
});
