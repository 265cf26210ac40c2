import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { test } from "node:test";
import { runCrashRounds } from "@anulo/testkit";

test("a node killed at random moments opens again and has all it acknowledged", async (t) => {
  const seed = randomBytes(4).toString("hex");
  t.diagnostic(`seed ${seed}`);
  const report = await runCrashRounds({ rounds: 8, seed });
  assert.equal(report.rounds, 8);
  assert.ok(report.kills >= 8 && report.acknowledgedBlocks > 0);
});
