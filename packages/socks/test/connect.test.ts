import assert from "node:assert/strict";
import { getEventListeners, once } from "node:events";
import { createServer, type Socket } from "node:net";
import { type TestContext, test } from "node:test";
import { connectThrough, SocksFailed } from "../src/index.ts";

const never = new AbortController().signal;

async function serve(t: TestContext, attend: (socket: Socket) => void) {
  const server = createServer((socket) => {
    socket.on("error", () => {});
    attend(socket);
    t.after(() => socket.destroy());
  });
  t.after(() => server.close());
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return { host: "127.0.0.1", port: (server.address() as { port: number }).port };
}

async function next(socket: Socket): Promise<Buffer> {
  const [bytes] = (await once(socket, "data")) as [Buffer];
  return bytes;
}

/** A proxy of version 5 that wants this login, notes what it is asked, and greets in the target's place. */
function wanting(user: string, password: string, asked: string[]) {
  return async (socket: Socket) => {
    const offer = await next(socket);
    const hasLogin = offer.subarray(2).includes(2);
    socket.write(Buffer.from([5, hasLogin ? 2 : 0xff]));
    if (!hasLogin) return;
    const said = await next(socket);
    const userBytes = said[1]!;
    const isRight =
      said.toString("utf8", 2, 2 + userBytes) === user && said.toString("utf8", 3 + userBytes) === password;
    socket.write(Buffer.from([1, isRight ? 0 : 1]));
    if (!isRight) return;
    const request = await next(socket);
    asked.push(`${request.toString("latin1", 5, 5 + request[4]!)} ${request.readUInt16BE(5 + request[4]!)}`);
    socket.write(Buffer.concat([Buffer.from([5, 0, 0, 1, 0, 0, 0, 0, 0, 0]), Buffer.from("welcome")]));
  };
}

test("a login is told to a proxy of version 5, and a name is left to it", async (t) => {
  const asked: string[] = [];
  const proxy = await serve(t, (socket) => void wanting("us:er", "é", asked)(socket));
  const login = { user: "us:er", password: "é" };
  const target = { host: "node.onion", port: 18081 };
  const socket = await connectThrough({ ...proxy, version: 5, login }, target, never);
  assert.equal((await next(socket)).toString(), "welcome");
  assert.deepEqual(asked, ["node.onion 18081"]);
  socket.destroy();
  for (const wrong of [{ user: "us", password: "é" }, { user: "us:er", password: "" }, undefined]) {
    const way = { ...proxy, version: 5 as const, ...(wrong !== undefined && { login: wrong }) };
    await assert.rejects(connectThrough(way, target, never), SocksFailed);
  }
  assert.equal(asked.length, 1);
});

test("version 4a is spoken unless version 5 is asked for or the target needs it", async (t) => {
  const versions: number[] = [];
  const proxy = await serve(t, (socket) => {
    socket.once("data", (bytes: Buffer) => {
      versions.push(bytes[0]!);
      socket.end();
    });
  });
  const dial = (host: string, version?: 5) =>
    connectThrough({ ...proxy, ...(version && { version }) }, { host, port: 1 }, never);
  for (const host of ["1.2.3.4", "name.onion", "::1"]) await assert.rejects(dial(host), SocksFailed);
  await assert.rejects(dial("1.2.3.4", 5), SocksFailed);
  assert.deepEqual(versions, [4, 4, 5, 5]);
});

test("no listener is left on a signal by what fails", async () => {
  const { signal } = new AbortController();
  const unreachable = { host: "127.0.0.1", port: 1 };
  for (let i = 0; i < 3; i++)
    await assert.rejects(connectThrough(unreachable, { host: "x", port: 1 }, signal), SocksFailed);
  assert.equal(getEventListeners(signal, "abort").length, 0);
});

test("a proxy that is silent or not there is given up", async (t) => {
  const silent = await serve(t, () => {});
  const late = new AbortController();
  const calling = connectThrough(silent, { host: "x.onion", port: 1 }, late.signal);
  setImmediate(() => late.abort());
  await assert.rejects(calling, SocksFailed);
  await assert.rejects(
    connectThrough(silent, { host: "x.onion", port: 1 }, AbortSignal.abort()),
    SocksFailed,
  );
  await assert.rejects(
    connectThrough({ host: "127.0.0.1", port: 1 }, { host: "x", port: 1 }, never),
    SocksFailed,
  );
});
