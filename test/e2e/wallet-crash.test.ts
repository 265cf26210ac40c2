import assert from "node:assert/strict";
import { test } from "node:test";
import { runWalletCrashRounds } from "@anulo/testkit";
import { isOfSigners } from "./signers-points.ts";

test("a wallet service killed at any named point opens again, has all it acknowledged, and pays once", async () => {
  const { points, kills } = await runWalletCrashRounds({ rounds: 1, only: (name) => !isOfSigners(name) });
  assert.ok(points >= 25 && kills === points);
});
