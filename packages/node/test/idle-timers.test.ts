/** What a node does by itself, while nothing happens. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { createNode } from "../src/index.ts";

test("no timer of a node goes off several times a second", async (t) => {
  const { setInterval } = globalThis;
  const delays: number[] = [];
  t.mock.method(globalThis, "setInterval", (work: () => void, ms: number) => {
    delays.push(ms);
    return setInterval(work, ms);
  });
  const node = createNode({ network: "mainnet", verifyThreads: 0, offline: true });
  await node.start();
  await node.stop();
  assert.ok(delays.length > 2);
  assert.deepEqual(
    delays.filter((ms) => !(ms >= 500)),
    [],
  );
});
