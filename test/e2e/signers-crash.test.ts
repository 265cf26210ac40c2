import assert from "node:assert/strict";
import { test } from "node:test";
import { runWalletCrashRounds } from "@anulo/testkit";
import { isOfSigners } from "./signers-points.ts";

test("a signer's service killed at any named point opens again, uses no nonce twice, and pays once", async () => {
  const { points, kills } = await runWalletCrashRounds({ rounds: 1, only: isOfSigners });
  assert.ok(points >= 10 && kills === points);
});
