/** What a service does by itself, as time passes. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { startTestService } from "./service.ts";

test("a service looks after its wallets every second, from its start to its stop", async (t) => {
  t.mock.timers.enable({ apis: ["setInterval"] });
  const { service, stop } = await startTestService({ concurrency: 0 }, t);
  const calls: string[] = [];
  service.closeIdle = async () => void calls.push("idle");
  service.openBroken = async () => void calls.push("broken");
  t.mock.timers.tick(999);
  assert.deepEqual(calls, []);
  t.mock.timers.tick(1);
  assert.deepEqual(calls, ["idle", "broken"]);
  t.mock.timers.tick(2000);
  assert.equal(calls.length, 6);
  await stop();
  t.mock.timers.tick(5000);
  assert.equal(calls.length, 6);
});
