import assert from "node:assert/strict";
import { addEvents, until } from "./harness.ts";
import { ok } from "./receiver.ts";
import { at, failingLog, HOUR, isThrough, passUntil, upTo } from "./webhook-scene.ts";

at("keeps the connection for the next events, and a lost one is no failed attempt", async (scene) => {
  const { log, hooks, receiver } = scene;
  await hooks.add({ url: receiver.url });
  await addEvents(log, 30);
  await until(isThrough(hooks, log));
  assert.equal(receiver.sockets.length, 1);
  // No time passes on this clock: an attempt that had failed would never be repeated.
  receiver.respond = (response, received) => {
    const { socket } = response;
    response.on("finish", () => socket?.end());
    ok(response, received);
  };
  await addEvents(log, 30);
  await until(isThrough(hooks, log));
  assert.ok(receiver.sockets.length > 1);
  assert.deepEqual([...new Set(receiver.received.map(({ sequence }) => sequence))], upTo(60));
});

at("keeps no connection whose response goes on", async ({ log, hooks, receiver }) => {
  receiver.respond = (response) => {
    response.writeHead(200);
    response.write("more follows, never");
  };
  await hooks.add({ url: receiver.url });
  await addEvents(log, 3);
  await until(isThrough(hooks, log));
  assert.equal(receiver.received.length, 3);
  assert.equal(receiver.sockets.length, 3);
});

at("where progress can't be written, a bounded number of events is sent, none twice", async (scene) => {
  const { log, clock, receiver, open } = scene;
  let isFull = false;
  const hooks = await open({ log: failingLog(log, () => isFull) });
  await hooks.add({ url: receiver.url });
  isFull = true;
  await addEvents(log, 200);
  await until(() => receiver.received.length === 64);
  await clock.pass(HOUR);
  assert.equal(receiver.received.length, 64);
  isFull = false;
  await passUntil(clock, isThrough(hooks, log), 1_000);
  assert.deepEqual(
    receiver.received.map(({ sequence }) => sequence),
    upTo(200),
  );
});
