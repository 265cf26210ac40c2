import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, type Socket } from "node:net";
import { describe, it, type TestContext } from "node:test";
import { type ClientOptions, ConnectionFailed, createClient, daemon } from "../src/index.ts";

const group = {
  getHeight: daemon.blocks.getHeight,
  sendRawTransaction: daemon.transactions.sendRawTransaction,
};
const BODY = '{"hash":"","height":7,"status":"OK"}';
const HEAD = "HTTP/1.1 200 Ok\r\nServer: Epee-based\r\n";
const WHOLE = `${HEAD}Content-Length: ${BODY.length}\r\n\r\n${BODY}`;

/** A service that answers by hand; `connections` are those that it was sent requests by. */
async function serve(t: TestContext, answer: (socket: Socket, requests: number) => void) {
  const connections = new Set<Socket>();
  const heads: string[] = [];
  const server = createServer((socket) => {
    socket.on("error", () => {});
    socket.on("data", (bytes: Buffer) => {
      connections.add(socket);
      heads.push(bytes.toString("latin1"));
      answer(socket, heads.length);
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => {
    for (const socket of connections) socket.destroy();
    server.close();
  });
  const address = server.address();
  assert.ok(address !== null && typeof address === "object");
  return { url: `http://127.0.0.1:${address.port}`, port: address.port, connections, heads };
}

function clientOf(t: TestContext, url: string, options: ClientOptions = {}) {
  const client = createClient(group, url, { timeoutMs: 5000, ...options });
  t.after(() => client.close());
  return client;
}

const chunked = `${HEAD}Transfer-Encoding: chunked\r\n\r\n5;x=y\r\n${BODY.slice(0, 5)}\r\n${(BODY.length - 5).toString(16)}\r\n${BODY.slice(5)}\r\n0\r\nTrailer: x\r\n\r\n`;

describe("client, by what services send", () => {
  for (const [name, bytes] of [
    ["with its length", WHOLE],
    ["in chunks", chunked],
    ["behind a response that announces it", `HTTP/1.1 100 Continue\r\n\r\n${WHOLE}`],
  ] as const) {
    it(`reads a response ${name}, in one piece and byte by byte, and uses the connection again`, async (t) => {
      const { url, connections, heads, port } = await serve(t, (socket, requests) => {
        if (requests !== 2) socket.write(bytes, "latin1");
        else for (const byte of Buffer.from(bytes, "latin1")) socket.write(Buffer.of(byte));
      });
      const client = clientOf(t, url);
      for (let i = 0; i < 3; i++) assert.equal((await client.getHeight()).height, 7);
      assert.equal(connections.size, 1);
      assert.equal(
        heads[0],
        `POST /get_height HTTP/1.1\r\nContent-Type: application/json\r\nContent-Length: 4\r\nConnection: keep-alive\r\nHost: 127.0.0.1:${port}\r\n\r\n{\r\n}`,
      );
    });
  }

  it("reads a response that ends with its connection", async (t) => {
    const { url, connections } = await serve(t, (socket) => socket.end(`${HEAD}\r\n${BODY}`, "latin1"));
    const client = clientOf(t, url);
    for (let i = 0; i < 2; i++) assert.equal((await client.getHeight()).height, 7);
    assert.equal(connections.size, 2);
  });

  it("does not use a connection again that the service is about to close, or that has bytes left", async (t) => {
    const old = WHOLE.replace("HTTP/1.1", "HTTP/1.0");
    for (const bytes of [WHOLE.replace("\r\n\r\n", "\r\nConnection: close\r\n\r\n"), old, `${WHOLE}x`]) {
      const { url, connections } = await serve(t, (socket) => socket.write(bytes, "latin1"));
      const client = clientOf(t, url);
      for (let i = 0; i < 2; i++) assert.equal((await client.getHeight()).height, 7);
      assert.equal(connections.size, 2, bytes);
    }
  });

  it("refuses what is no response, or whose end is ambiguous", async (t) => {
    const twice = WHOLE.replace("\r\n\r\n", `\r\nContent-Length: ${BODY.length}\r\n\r\n`);
    const both = chunked.replace("\r\n\r\n", "\r\nContent-Length: 5\r\n\r\n");
    const long = WHOLE.replace("\r\n\r\n", `\r\nX: ${"x".repeat(20_000)}\r\n\r\n`);
    const wrong = [
      twice,
      both,
      long,
      "SSH-2.0-x\r\n\r\n",
      HEAD.replace("Server:", "Server :"),
      "\x15\x03\x01",
    ];
    for (const bytes of wrong) {
      const { url } = await serve(t, (socket) => socket.end(bytes, "latin1"));
      await assert.rejects(clientOf(t, url).getHeight(), { name: "ConnectionFailed", message: /NOT_HTTP/ });
    }
  });

  it("refuses a body that is too long or does not end, before all of it has come", async (t) => {
    const wrong = [
      `${HEAD}Content-Length: 101\r\n\r\n`,
      `${HEAD}Transfer-Encoding: chunked\r\n\r\n65\r\n`,
      `${HEAD}Transfer-Encoding: chunked\r\n\r\nx\r\n`,
      `${HEAD}\r\n${"x".repeat(101)}`,
    ];
    for (const bytes of wrong) {
      const { url } = await serve(t, (socket) => socket.write(bytes, "latin1"));
      const failed = { name: "ConnectionFailed", message: /the answer broke off or is too long/ };
      await assert.rejects(clientOf(t, url, { maxAnswerBytes: () => 100 }).getHeight(), failed, bytes);
    }
    const { url } = await serve(t, (socket) => socket.end(WHOLE.slice(0, -1), "latin1"));
    await assert.rejects(clientOf(t, url).getHeight(), /the answer broke off/);
  });
});

describe("client, by what becomes of connections", () => {
  it("repeats a call that only reads when an idle connection turns out to be closed", async (t) => {
    const { url, heads } = await serve(t, (socket, requests) => {
      if (requests === 2 || requests === 5) socket.destroy();
      else socket.write(WHOLE, "latin1");
    });
    const client = clientOf(t, url);
    for (let i = 0; i < 2; i++) assert.equal((await client.getHeight()).height, 7);
    assert.equal(heads.length, 3);
    assert.equal((await client.getHeight()).height, 7);
    await assert.rejects(client.sendRawTransaction({ tx_as_hex: "00" }), {
      name: "ConnectionFailed",
      message: /ECONNRESET/,
    });
    assert.equal(heads.length, 5);
  });

  it("opens no more connections than allowed, and serves calls that wait in their order", async (t) => {
    const asked: Socket[] = [];
    const { url, connections } = await serve(t, (socket) => void asked.push(socket));
    const client = clientOf(t, url, { connections: 2 });
    const ended: number[] = [];
    const calls = [0, 1, 2, 3].map((i) => client.getHeight().then(() => ended.push(i)));
    for (let answered = 0; answered < 4; answered++) {
      while (asked.length === 0) await new Promise((resolve) => setTimeout(resolve, 1));
      asked.shift()!.write(WHOLE, "latin1");
    }
    await Promise.all(calls);
    assert.deepEqual(ended.slice(2), [2, 3]);
    assert.equal(connections.size, 2);
  });

  it("lets a call that waits open a connection when one of others fails", async (t) => {
    const { url, connections } = await serve(t, (socket, requests) => {
      if (requests === 1) socket.end("nonsense", "latin1");
      else socket.write(WHOLE, "latin1");
    });
    const client = clientOf(t, url, { connections: 1 });
    const [first, second] = await Promise.allSettled([client.getHeight(), client.getHeight()]);
    assert.deepEqual([first.status, second.status], ["rejected", "fulfilled"]);
    assert.equal(connections.size, 2);
  });

  it("ends calls that are aborted, whether they wait, or for a response", async (t) => {
    const { url, heads } = await serve(t, () => undefined);
    const client = clientOf(t, url, { connections: 1 });
    const [a, b] = [new AbortController(), new AbortController()];
    const first = client.getHeight({}, { signal: a.signal });
    const second = client.getHeight({}, { signal: b.signal });
    while (heads.length === 0) await new Promise((resolve) => setTimeout(resolve, 1));
    b.abort();
    await assert.rejects(second, { name: "ConnectionFailed", message: /broken off/ });
    a.abort();
    await assert.rejects(first, { name: "ConnectionFailed", message: /broken off/ });
    await assert.rejects(client.getHeight({}, { signal: a.signal }), ConnectionFailed);
    assert.equal(heads.length, 1);
  });

  it("gives up opening a connection when the call is over, and all of it when closed", async (t) => {
    // Nothing else keeps the process running: what is opened here is nothing.
    const awake = setInterval(() => undefined, 1000);
    t.after(() => clearInterval(awake));
    const signals: AbortSignal[] = [];
    const connect: ClientOptions["connect"] = (_target, signal) => {
      signals.push(signal);
      return new Promise((_resolve, reject) =>
        signal.addEventListener("abort", () => reject(new Error("gave up"))),
      );
    };
    const client = clientOf(t, "http://node.example", { connect, connections: 1 });
    const late = client.getHeight({}, { timeoutMs: 10 });
    await assert.rejects(late, { name: "ConnectionFailed", message: /no answer in 10 ms/ });
    assert.equal(signals[0]!.aborted, true);
    const [opening, waiting] = [client.getHeight(), client.getHeight()];
    client.close();
    await assert.rejects(opening, { name: "ConnectionFailed", message: /closed/ });
    await assert.rejects(waiting, { name: "ConnectionFailed", message: /closed/ });
    await assert.rejects(client.getHeight(), { name: "ConnectionFailed", message: /closed/ });
    assert.equal(signals.at(-1)!.aborted, true);
  });

  it("keeps no process running with idle connections", async (t) => {
    const { url } = await serve(t, (socket) => socket.write(WHOLE, "latin1"));
    const sockets: Socket[] = [];
    const { overTcp } = await import("../src/client/dial.ts");
    const connect: ClientOptions["connect"] = async (target, signal) => {
      const socket = await overTcp(target, signal);
      sockets.push(socket as Socket);
      return socket;
    };
    const { port } = new URL(url);
    await clientOf(t, `http://127.0.0.1:${port}`, { connect }).getHeight();
    assert.equal((sockets[0] as unknown as { _handle: { hasRef(): boolean } })._handle.hasRef(), false);
  });
});
