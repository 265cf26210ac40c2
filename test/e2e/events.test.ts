/** Events of a wallet service that is killed while payments come in, as three kinds of consumers see them. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { natsMissing, postgresMissing, runEventRounds } from "@anulo/testkit";

const kinds = [
  { where: "the folder's store", store: undefined, missing: natsMissing() },
  { where: "journals", store: "journal", missing: natsMissing() },
  { where: "a PostgreSQL store", store: "postgres", missing: natsMissing() ?? postgresMissing() },
] as const;

for (const { where, store, missing } of kinds) {
  test(`consumers see every event of a killed service once and in order, its ledgers in ${where}`, {
    skip: missing,
  }, async (t) => {
    const rounds = store === undefined ? 3 : 2;
    const { counts, events, refused } = await runEventRounds({
      rounds,
      payments: 20 * rounds,
      seed: "short",
      store,
    });
    // What is told after a kill goes on from what was told before: nothing ends the history of a wallet.
    assert.equal(counts.get("events_started"), 1);
    t.diagnostic(`${events} events, ${refused} webhooks refused`);
  });
}
