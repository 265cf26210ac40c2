/** What a node does by itself, while nothing happens. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { createNode } from "../src/index.ts";

test("no timer of a node goes off several times a second, and none outlives it", async (t) => {
  const { setInterval, clearInterval } = globalThis;
  const delays: number[] = [];
  const running = new Set<unknown>();
  t.mock.method(globalThis, "setInterval", (work: () => void, ms: number) => {
    delays.push(ms);
    const timer = setInterval(work, ms);
    running.add(timer);
    return timer;
  });
  t.mock.method(globalThis, "clearInterval", (timer: NodeJS.Timeout) => {
    running.delete(timer);
    clearInterval(timer);
  });
  const node = createNode({ network: "mainnet", verifyThreads: 0, offline: true });
  await node.start();
  await node.stop();
  assert.equal(running.size, 0, "none is left when it has stopped");
  assert.ok(delays.length > 2);
  assert.deepEqual(
    delays.filter((ms) => !(ms >= 500)),
    [],
  );
});
