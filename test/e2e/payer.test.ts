import assert from "node:assert/strict";
import { test } from "node:test";
import { runPayerRounds } from "@anulo/testkit";

test("a payer who repeats until answered pays once, whatever breaks", async (t) => {
  const { payments, transactions, attempts, mishaps } = await runPayerRounds({ rounds: 12, seed: "short" });
  assert.equal(payments, 12);
  assert.ok(attempts > payments && transactions > payments && mishaps.size === 5);
  t.diagnostic(`${payments} payments asked for ${attempts} times`);
});
