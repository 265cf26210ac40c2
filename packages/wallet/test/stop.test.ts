import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, type Socket } from "node:net";
import { type TestContext, test } from "node:test";
import type { Worker } from "node:worker_threads";
import { createLog } from "@anulo/rpc";
import { closeRuntime, createRuntime } from "../src/runtime.ts";
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

/** The threads that are started during a test. */
function threadsOf(t: TestContext): Worker[] {
  const threads: Worker[] = [];
  const note = (thread: Worker) => void threads.push(thread);
  process.on("worker", note);
  t.after(() => process.off("worker", note));
  return threads;
}

/** One that has ended has no number. */
const hasEnded = ({ threadId }: Worker) => threadId === -1;
/** A thread ends once it has done its job. */
const whenEnded = (threads: readonly Worker[]) =>
  Promise.all(threads.map((thread) => (hasEnded(thread) ? undefined : once(thread, "exit"))));

test("a service that has stopped has ended its own threads, and none of those it was lent", {
  timeout,
}, async (t) => {
  const threads = threadsOf(t);
  const own = await startTestService({ concurrency: 1 });
  await own.call.createWallet(seed);
  await own.stop();
  assert.ok(threads.length > 0);
  await whenEnded(threads);
  const runtime = createRuntime({ concurrency: 1 });
  const other = await startTestService({ runtime });
  await other.call.createWallet(seed);
  await other.stop();
  assert.ok(!threads.every(hasEnded));
  await closeRuntime(runtime);
  await whenEnded(threads);
});

/** What is logged where something had not ended. */
const UNFINISHED = "stopped before everything under way had ended";

/** A service with a wallet whose closing, once begun, ends with `finish`. */
async function startWithSlowWallet(t: TestContext, closingMs: number) {
  const events: string[] = [];
  const log = createLog({ write: ({ event }) => events.push(event) });
  const { call, service } = await startTestService({ log, closingMs });
  await call.createWallet(seed);
  call.close();
  let finish = () => {};
  const finished = new Promise<void>((resolve) => {
    finish = resolve;
  });
  const begun = new Promise<void>((resolve) => {
    t.mock.method(service.opened!.wallet, "settle", () => {
      resolve();
      return finished;
    });
  });
  return { service, begun, finish, events };
}

test("a stop waits for a wallet that is being closed as long as it may, and says where it has not ended", {
  timeout,
}, async (t) => {
  const { service, finish, events } = await startWithSlowWallet(t, 20);
  await service.stop();
  assert.ok(events.includes(UNFINISHED));
  finish();
});

test("a stop that may wait for ever ends once the wallets are closed", { timeout }, async (t) => {
  const { service, begun, finish, events } = await startWithSlowWallet(t, Number.POSITIVE_INFINITY);
  let isStopped = false;
  const stopping = service.stop().then(() => {
    isStopped = true;
  });
  await begun;
  await new Promise((resolve) => setTimeout(resolve, 50));
  assert.equal(isStopped, false);
  finish();
  await stopping;
  assert.ok(!events.includes(UNFINISHED));
});
