import assert from "node:assert/strict";
import { test } from "node:test";
import { runWalletCrashRounds } from "@anulo/testkit";
import { partOf } from "./crash-parts.ts";

test("a wallet service killed while it scans or writes its files opens again with all it acknowledged", async () => {
  const { points, kills } = await runWalletCrashRounds({
    rounds: 1,
    only: (name) => partOf(name) === "files",
  });
  assert.ok(points >= 15 && kills === points);
});
