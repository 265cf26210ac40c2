import assert from "node:assert/strict";
import { test } from "node:test";
import { runWalletCrashRounds } from "@anulo/testkit";
import { partOf } from "./crash-parts.ts";

test("a signer's service killed at any named point opens again, uses no nonce twice, and pays once", async () => {
  const { points, kills } = await runWalletCrashRounds({
    rounds: 1,
    only: (name) => partOf(name) === "signers",
  });
  assert.ok(points >= 10 && kills === points);
});
