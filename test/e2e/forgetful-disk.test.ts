import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { test } from "node:test";
import { runDiskCuts } from "@anulo/testkit";

const kinds = [
  { what: "node", service: "node", cuts: 100 },
  { what: "wallet", service: "wallet", cuts: 60 },
  { what: "wallet with a journal", service: "wallet", hasJournals: true, cuts: 40 },
] as const;

for (const { what, ...kind } of kinds) {
  test(`a ${what} whose disk forgets what was not synced has all it acknowledged`, async (t) => {
    const seed = randomBytes(4).toString("hex");
    t.diagnostic(`seed ${seed}`);
    assert.equal(await runDiskCuts({ ...kind, seed }), kind.cuts);
  });
}
