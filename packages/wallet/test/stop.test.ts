import assert from "node:assert/strict";
import { createServer, type Socket } from "node:net";
import { type TestContext, test } from "node:test";
import { startTestService } from "./service.ts";

/** Less than a call to a node may take, more than a stop does. */
const timeout = 60_000;

/** A node that takes every call and answers none. */
async function startSilentNode(t: TestContext): Promise<{ url: string; asked: () => Promise<void> }> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => {});
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.after(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  const address = server.address();
  assert.ok(address !== null && typeof address === "object");
  const asked = () =>
    new Promise<void>((resolve) => {
      server.once("connection", (socket: Socket) => socket.once("data", () => resolve()));
    });
  return { url: `http://127.0.0.1:${address.port}`, asked };
}

const seed = { language: "English", filename: "w" };

test("the service stops while a scan, a payment and a new wallet wait for a silent node", {
  timeout,
}, async (t) => {
  const node = await startSilentNode(t);
  const { call, service } = await startTestService({}, t);
  await call.createWallet(seed);
  await call.setDaemon({ address: node.url, trusted: true, ssl_support: "disabled" });
  const { wallet } = service.opened!;
  let isAsked = node.asked();
  const refreshing = call.refresh();
  await isAsked;
  isAsked = node.asked();
  const paying = wallet.exclusively(() => wallet.daemon.client.getHeight());
  await isAsked;
  const over = Promise.allSettled([refreshing, paying]);
  await call.stopWallet();
  await service.ended;
  for (const { status } of await over) assert.equal(status, "rejected");
  assert.equal(service.opened, undefined);
});

test("the service stops while it makes a wallet and asks a silent node for its height", {
  timeout,
}, async (t) => {
  const node = await startSilentNode(t);
  const { call, service } = await startTestService({ node: node.url }, t);
  const isAsked = node.asked();
  const making = call.createWallet(seed).catch((error: Error) => error);
  await isAsked;
  await service.stop();
  await making;
});
