/** Requests that are passed on to another process of the service, and what comes back of them or does not. */
import assert from "node:assert/strict";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { type TestContext, test } from "node:test";
import { createForwarder, NoAnswer, NotReached, type Posting } from "../src/peers/pass-on.ts";

type Handler = (request: IncomingMessage, response: ServerResponse, body: Buffer) => void;

/** Another process that deals with requests so, and what passes a request on to it. */
async function start(t: TestContext, handler: Handler) {
  const requests: (IncomingMessage & { readonly text?: string })[] = [];
  let connections = 0;
  const server = createServer(async (request, response) => {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part);
    requests.push(Object.assign(request, { text: Buffer.concat(parts).toString() }));
    handler(request, response, Buffer.concat(parts));
  }).on("connection", () => void connections++);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const forwarder = createForwarder();
  t.after(() => {
    forwarder.close();
    server.closeAllConnections();
    server.close();
  });
  const passOn = (posting: Partial<Posting> = {}) =>
    forwarder.passOn({
      address: `127.0.0.1:${port}`,
      method: "POST",
      target: "/json_rpc",
      body: Buffer.from("question"),
      authorization: "Bearer token",
      idempotencyKey: undefined,
      id: "r-1",
      signals: [],
      admit: () => {},
      ...posting,
    });
  return { passOn, requests, connections: () => connections, port };
}

const answering =
  (status: number, headers: Readonly<Record<string, string | number>>, body = "answer"): Handler =>
  (_, response) =>
    response.writeHead(status, { "Content-Length": body.length, ...headers }).end(body);

test("a request arrives as it was, and its answer comes back, on connections that stay open", async (t) => {
  const { passOn, requests, connections } = await start(
    t,
    answering(409, { "Content-Type": "application/json" }),
  );
  const { status, type, body } = (await passOn({ idempotencyKey: "once" })) as { body: Uint8Array } & Awaited<
    ReturnType<typeof passOn>
  >;
  assert.deepEqual([status, type, Buffer.from(body).toString()], [409, "application/json", "answer"]);
  const [{ method, url, headers, text }] = requests as [(typeof requests)[0]];
  assert.deepEqual([method, url, text], ["POST", "/json_rpc", "question"]);
  assert.deepEqual(
    [headers.authorization, headers["idempotency-key"], headers["x-request-id"], headers["content-length"]],
    ["Bearer token", "once", "r-1", "8"],
  );
  await passOn({ method: "GET", target: "/events?limit=1", body: new Uint8Array() });
  assert.equal(requests[1]!.url, "/events?limit=1");
  assert.equal(requests[1]!.headers["idempotency-key"], undefined);
  assert.equal(connections(), 1);
});

test("room for an answer is made before any of it is read, and where there is none the request ends", async (t) => {
  const { passOn } = await start(t, answering(200, {}));
  const order: string[] = [];
  let makeRoom: () => void = () => {};
  const answered = passOn({
    admit: (bytes) => {
      order.push(`${bytes} bytes`);
      return new Promise((resolve) => {
        makeRoom = resolve;
      });
    },
  }).then((answer) => {
    order.push("answered");
    return answer;
  });
  for (let i = 0; i < 60_000 && order.length === 0; i++)
    await new Promise((resolve) => setTimeout(resolve, 1));
  for (let i = 0; i < 20; i++) await new Promise((resolve) => setImmediate(resolve));
  assert.deepEqual(order, ["6 bytes"]);
  makeRoom();
  assert.equal((await answered).type, "text/plain");
  const refuse = async () => {
    throw new RangeError("no room");
  };
  await assert.rejects(passOn({ admit: refuse }), RangeError);
});

test("what no process of the service answers is no answer", async (t) => {
  const answers: readonly Handler[] = [
    answering(302, {}),
    answering(200, { "Content-Type": "text/html" }),
    (_, response) => response.writeHead(200, { "Transfer-Encoding": "chunked" }).end("answer"),
  ];
  for (const handler of answers) {
    const { passOn } = await start(t, handler);
    await assert.rejects(passOn(), NoAnswer);
  }
});

test("an answer that breaks off is none, nor is a connection that ends before it", async (t) => {
  const broken = await start(t, (_, response) => {
    response.writeHead(200, { "Content-Length": 100 });
    response.write("half", () => response.destroy());
  });
  await assert.rejects(broken.passOn(), NoAnswer);
  const silent = await start(t, (request) => request.socket.destroy());
  await assert.rejects(silent.passOn(), NoAnswer);
});

test("nothing is sent for a caller who has left, and a request under way ends with its caller", async (t) => {
  let heard: () => void = () => {};
  const arrived = new Promise<void>((resolve) => {
    heard = resolve;
  });
  const { passOn, requests } = await start(t, () => heard());
  await assert.rejects(passOn({ signals: [AbortSignal.abort()] }), NotReached);
  assert.equal(requests.length, 0);
  const [caller, process] = [new AbortController(), new AbortController()];
  const underWay = passOn({ signals: [caller.signal, process.signal] });
  underWay.catch(() => {});
  await arrived;
  process.abort();
  await assert.rejects(underWay, NoAnswer);
});

test("where nobody listens nothing was sent, and the system says so", async (t) => {
  const { passOn, port } = await start(t, answering(200, {}));
  const gone = createServer();
  await new Promise<void>((resolve) => gone.listen(0, "127.0.0.1", resolve));
  const { port: free } = gone.address() as AddressInfo;
  await new Promise((resolve) => gone.close(resolve));
  await assert.rejects(
    passOn({ address: `127.0.0.1:${free}` }),
    (error: Error) => error instanceof NotReached && error.isRefused,
  );
  assert.equal((await passOn({ address: `localhost:${port}` })).status, 200);
});
