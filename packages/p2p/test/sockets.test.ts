import assert from "node:assert/strict";
import dns from "node:dns/promises";
import { once } from "node:events";
import { syncBuiltinESMExports } from "node:module";
import { createServer, type Server, type Socket } from "node:net";
import { test } from "node:test";
import { PROXY_TIMEOUT_MS, type SocksProxy } from "@anulo/socks";
import { type NetworkIo, systemNetworkIo } from "../src/connection/network-io.ts";
import { DialFailed, dialTcp, listenTcp, socketTransport } from "../src/connection/tcp.ts";
import type { Transport } from "../src/connection/transport.ts";
import { createDial } from "../src/dial.ts";
import { createPipe, FakeClock, settle, stillClock } from "./fakes.ts";

const never = new AbortController().signal;

async function listening(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return (server.address() as { port: number }).port;
}

/** A SOCKS 4a proxy that notes what it was asked, grants it and then echoes. */
function createProxy(asked: string[], granted: boolean): Server {
  return createServer((socket) => {
    socket.once("data", (request: Buffer) => {
      const end = request.indexOf(0, 8) + 1;
      asked.push(
        `${request.readUInt16BE(2)} ${request.subarray(end, -1).toString() || request.subarray(4, 8).join(".")}`,
      );
      socket.write(Buffer.from([0, granted ? 0x5a : 0x5b, 0, 0, 0, 0, 0, 0]));
      socket.on("data", (bytes: Buffer) => socket.write(bytes));
    });
    socket.on("error", () => {});
  });
}

async function echo(transport: Transport, text: string): Promise<string> {
  const answer = await new Promise<string>((resolve) => {
    transport.start({
      received: (bytes) => resolve(Buffer.from(bytes).toString()),
      drained() {},
      closed() {},
    });
    transport.write(Buffer.from(text));
  });
  transport.close();
  return answer;
}

test("connections go through a SOCKS proxy, which looks hidden names up itself", async () => {
  const asked: string[] = [];
  const proxy = createProxy(asked, true);
  const via = { host: "127.0.0.1", port: await listening(proxy) };
  const dial = (host: string, port: number) => systemNetworkIo.dial({ host, port }, via, never);
  assert.equal(await echo(await dial("x.onion", 18083), "hello"), "hello");
  assert.equal(await echo(await dial("1.2.3.4", 80), "you"), "you");
  assert.deepEqual(asked, ["18083 x.onion", "80 1.2.3.4"]);
  proxy.close();
});

test("a proxy that refuses or is not there fails the call", async () => {
  const proxy = createProxy([], false);
  const via = { host: "127.0.0.1", port: await listening(proxy) };
  const target = { host: "x.onion", port: 1 };
  await assert.rejects(systemNetworkIo.dial(target, via, never), DialFailed);
  await new Promise((resolve) => proxy.close(resolve));
  await assert.rejects(systemNetworkIo.dial(target, via, never), DialFailed);
});

test("a call that takes too long is given up", async () => {
  const silent = createServer(() => {});
  const via = { host: "127.0.0.1", port: await listening(silent) };
  const late = new AbortController();
  const calling = systemNetworkIo.dial({ host: "x.onion", port: 1 }, via, late.signal);
  setImmediate(() => late.abort());
  await assert.rejects(calling, DialFailed);
  await assert.rejects(dialTcp(via, AbortSignal.abort()), DialFailed);
  silent.close();
});

test("a call that was given up leaves no connection behind", async () => {
  const accepted: Socket[] = [];
  let hear: () => void = () => {};
  const heard = new Promise<void>((resolve) => {
    hear = resolve;
  });
  const server = createServer((socket) => {
    accepted.push(socket.on("error", () => {}).on("data", hear));
  });
  const target = { host: "127.0.0.1", port: await listening(server) };
  await assert.rejects(dialTcp(target, AbortSignal.abort()), DialFailed);
  // Connections are accepted in their order.
  const later = await dialTcp(target, never);
  later.write("x");
  await heard;
  assert.equal(accepted.filter((socket) => !socket.destroyed && socket.remotePort !== undefined).length, 1);
  later.destroy();
  for (const socket of accepted) socket.destroy();
  server.close();
});

test("a connection that is over before anybody listens is told of as closed", async () => {
  const server = createServer();
  const socket = await dialTcp({ host: "127.0.0.1", port: await listening(server) }, never);
  socket.destroy();
  await once(socket, "close");
  const transport = socketTransport(socket);
  await new Promise<void>((resolve) => transport.start({ received() {}, drained() {}, closed: resolve }));
  server.close();
});

test("a call may take five seconds, half a minute through a proxy, or as long as it is told", async () => {
  const limitOf = async (proxy: SocksProxy | undefined, timeoutMs?: number) => {
    const clock = new FakeClock();
    let hasGivenUp = false;
    const pending: NetworkIo["dial"] = (_target, _proxy, signal) =>
      new Promise((_, reject) =>
        signal.addEventListener("abort", () => {
          hasGivenUp = true;
          reject(new DialFailed("gave up"));
        }),
      );
    const parts = { wires: { ...systemNetworkIo, dial: pending }, clock, proxy };
    const dial = createDial({ ...parts, stopped: never });
    const failed = assert.rejects(dial({ kind: "ipv4", host: "1.2.3.4", port: 1 }, timeoutMs), DialFailed);
    let seconds = 0;
    for (; !hasGivenUp; seconds++) await clock.pass(1);
    await failed;
    return seconds;
  };
  const proxy = { host: "127.0.0.1", port: 9050 };
  assert.equal(await limitOf(undefined), 5);
  assert.equal(await limitOf(proxy), PROXY_TIMEOUT_MS / 1000);
  assert.equal(await limitOf(undefined, 2000), 2);
  assert.equal(await limitOf(proxy, 2000), 2);
});

test("of a call that was answered nothing is left to time out, nor to give up when the node stops", async () => {
  let [timers, aborted] = [0, false];
  const clock = {
    ...stillClock,
    after() {
      timers++;
      return () => void timers--;
    },
  };
  const stopping = new AbortController();
  const [transport] = createPipe();
  const answered: NetworkIo["dial"] = async (_target, _proxy, signal) => {
    signal.addEventListener("abort", () => {
      aborted = true;
    });
    return transport;
  };
  const wires = { ...systemNetworkIo, dial: answered };
  const dial = createDial({ wires, clock, proxy: undefined, stopped: stopping.signal });
  const address = { kind: "ipv4", host: "1.2.3.4", port: 1 } as const;
  const calling = dial(address);
  assert.equal(timers, 1);
  assert.equal(await calling, transport);
  stopping.abort();
  assert.deepEqual([timers, aborted], [0, false]);
  await assert.rejects(dial(address), DialFailed);
  assert.equal(timers, 0);
});

test("a name server is asked once, for five seconds at most; without an answer a name has nothing", async (t) => {
  const asked: unknown[] = [];
  const found = { addresses: ["1.2.3.4", "1.2.3.5"], texts: [["9.9.9.9;", "8.8.8.8"], [], ["7.7.7.7"]] };
  let isThere = true;
  class NameServers {
    constructor(options: unknown) {
      asked.push(options);
    }
    async resolve4(name: string) {
      asked.push(`addresses of ${name}`);
      if (!isThere) throw new Error("ETIMEOUT");
      return found.addresses;
    }
    async resolveTxt(name: string) {
      asked.push(`texts of ${name}`);
      if (!isThere) throw new Error("ETIMEOUT");
      return found.texts;
    }
  }
  const original = dns.Resolver;
  const use = (made: unknown) => {
    Reflect.set(dns, "Resolver", made);
    syncBuiltinESMExports();
  };
  use(NameServers);
  t.after(() => use(original));
  const { lookUp, lookUpTexts } = systemNetworkIo;
  assert.deepEqual(await lookUp("a.example"), found.addresses);
  assert.deepEqual(await lookUpTexts("b.example"), ["9.9.9.9;8.8.8.8", "", "7.7.7.7"]);
  isThere = false;
  assert.deepEqual([await lookUp("a.example"), await lookUpTexts("b.example")], [[], []]);
  const once = { timeout: 5000, tries: 1 };
  const both = [once, "addresses of a.example", once, "texts of b.example"];
  assert.deepEqual(asked, [...both, ...both]);
});

test("many calls under way are no leak to warn of", async () => {
  const heard: string[] = [];
  const hear = ({ name }: Error) => void heard.push(name);
  process.on("warning", hear);
  const stopping = new AbortController();
  const pending: NetworkIo["dial"] = (_target, _proxy, signal) =>
    new Promise((_, reject) => signal.addEventListener("abort", () => reject(new DialFailed("gave up"))));
  const wires = { ...systemNetworkIo, dial: pending };
  const dial = createDial({ wires, clock: new FakeClock(), proxy: undefined, stopped: stopping.signal });
  const calls = Array.from({ length: 50 }, (_, i) => dial({ kind: "ipv4", host: "1.2.3.4", port: 1 + i }));
  await settle(1);
  stopping.abort();
  for (const call of calls) await assert.rejects(call, DialFailed);
  process.off("warning", hear);
  assert.deepEqual(heard, []);
});

test("a port accepts, delivers and closes", async () => {
  const from = await new Promise<string>((resolve) => {
    void listenTcp({ host: "127.0.0.1", port: 0 }, (transport, address) => {
      transport.start({
        received(bytes) {
          transport.write(bytes);
          resolve(`${address.kind} ${address.host}`);
        },
        drained() {},
        closed: () => void open.then((port) => port.close()),
      });
    }).then(async (port) => {
      opened(port);
      const transport = await systemNetworkIo.dial({ host: "127.0.0.1", port: port.port }, undefined, never);
      transport.start({ received: () => transport.close(), drained() {}, closed() {} });
      transport.write(Buffer.from("x"));
    });
  });
  assert.equal(from, "ipv4 127.0.0.1");
});

let opened: (port: { port: number; close(): Promise<void> }) => void = () => {};
const open = new Promise<{ port: number; close(): Promise<void> }>((resolve) => {
  opened = resolve;
});
