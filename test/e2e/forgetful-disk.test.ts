import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { test } from "node:test";
import { runDiskCuts } from "@anulo/testkit";

const CUTS = 100;

for (const service of ["node", "wallet"] as const) {
  test(`a ${service} whose disk forgets what was not synced has all it acknowledged`, async (t) => {
    const seed = randomBytes(4).toString("hex");
    t.diagnostic(`seed ${seed}`);
    assert.equal(await runDiskCuts({ service, cuts: CUTS, seed }), CUTS);
  });
}
