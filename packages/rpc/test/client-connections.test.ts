/** How many connections a client opens, and who waits for one. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, type Server, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { type TestContext, test } from "node:test";
import { setImmediate } from "node:timers/promises";
import { ConnectionSlots } from "../src/client/connection-slots.ts";
import { type ClientOptions, createClient, daemon } from "../src/index.ts";

const COUNT = JSON.stringify({
  jsonrpc: "2.0",
  id: "0",
  result: { count: 5, status: "OK", untrusted: false },
});

/** A client of this server; all is closed after the test. */
async function connectTo(t: TestContext, server: Server, options: ClientOptions) {
  const sockets = new Set<Socket>();
  server.on("connection", (socket) => sockets.add(socket));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const client = createClient(daemon.blocks, `http://127.0.0.1:${port}`, options);
  t.after(() => {
    client.close();
    server.close();
    server.closeAllConnections();
  });
  return { client, sockets };
}

// Closes: a wallet whose calls began together was refused by a monerod with a login, for as long as it ran.
test("calls that begin together with a login share a connection, to which a monerod's nonce belongs", {
  timeout: 300_000,
}, async (t) => {
  const nonces = new Map<Socket, string>();
  const server = createServer((request, response) => {
    request.resume();
    const nonce = nonces.get(request.socket);
    const given = /nonce="([^"]*)"/.exec(request.headers.authorization ?? "")?.[1];
    if (given !== undefined && given === nonce) return void response.end(COUNT);
    const fresh = `nonce${Math.random()}`;
    nonces.set(request.socket, fresh);
    const isStale = given !== undefined;
    response.writeHead(401, {
      "WWW-Authenticate": `Digest qop="auth",algorithm=MD5,realm="monero-rpc",nonce="${fresh}",stale=${isStale}`,
    });
    response.end();
  });
  const login = { user: "a", password: "b" };
  const { client, sockets } = await connectTo(t, server, { login, connections: 4 });
  const answers = await Promise.all(Array.from({ length: 8 }, () => client.getBlockCount()));
  assert.deepEqual(
    answers.map(({ count }) => count),
    Array.from({ length: 8 }, () => 5),
  );
  assert.equal(sockets.size, 1);
});

test("calls that begin together open no more connections than there may be", {
  timeout: 300_000,
}, async (t) => {
  const waiting: ServerResponse[] = [];
  let answered = 0;
  const server = createServer((request, response) => {
    request.resume();
    waiting.push(response);
  });
  const { client, sockets } = await connectTo(t, server, { connections: 4 });
  const answers = Array.from({ length: 9 }, () => client.getBlockCount());
  while (answered < 9) {
    // All that may come at once are here; a further one would be, too.
    while (waiting.length < Math.min(4, 9 - answered)) await setImmediate();
    for (let i = 0; i < 20; i++) await setImmediate();
    assert.ok(
      waiting.length <= 4 && sockets.size <= 4,
      `${waiting.length} calls, ${sockets.size} connections`,
    );
    for (const response of waiting.splice(0)) {
      response.end(COUNT);
      answered++;
    }
  }
  await Promise.all(answers);
});

test("a call that waits for a connection ends with its time, its signal or the client", {
  timeout: 300_000,
}, async (t) => {
  const server = createServer((request) => void request.resume());
  const { client } = await connectTo(t, server, { connections: 1 });
  const first = assert.rejects(client.getBlockCount(), /get_block_count: closed/);
  const late = client.getBlockCount([], { timeoutMs: 20 });
  await assert.rejects(late, { name: "ConnectionFailed", message: /no answer in 20 ms/ });
  const leaving = new AbortController();
  const left = client.getBlockCount([], { signal: leaving.signal });
  await setImmediate();
  leaving.abort();
  await assert.rejects(left, { name: "ConnectionFailed", message: /broken off/ });
  const waiting = assert.rejects(client.getBlockCount(), { name: "ConnectionFailed", message: /closed/ });
  await setImmediate();
  client.close();
  await Promise.all([first, waiting]);
});

test("a slot goes to whoever has waited longest, and to nobody who has left", {
  timeout: 300_000,
}, async () => {
  const slots = new ConnectionSlots(1);
  const order: string[] = [];
  const leaving = new AbortController();
  const take = async (name: string, signal?: AbortSignal) => {
    if (await slots.take({ timeoutMs: 60_000, signals: [signal] })) order.push(name);
    else order.push(`not ${name}`);
  };
  await take("first");
  const others = [
    take("second"),
    take("left", leaving.signal),
    take("third"),
    take("fourth", AbortSignal.abort()),
  ];
  leaving.abort();
  for (let i = 0; i < 3; i++) {
    await setImmediate();
    slots.release();
  }
  await Promise.all(others);
  assert.deepEqual(order, ["first", "not left", "not fourth", "second", "third"]);
  await take("again");
  assert.equal(order.at(-1), "again");
});
