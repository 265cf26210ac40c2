import assert from "node:assert/strict";
import { test } from "node:test";
import { runWalletCrashRounds } from "@anulo/testkit";
import { partOf } from "./crash-parts.ts";

test("a wallet service killed at any point of a payment opens again, has all it acknowledged, and pays once", async () => {
  const { points, kills } = await runWalletCrashRounds({
    rounds: 1,
    only: (name) => partOf(name) === "payments",
  });
  assert.ok(points >= 20 && kills === points);
});
