/** Events of a wallet service that is killed while payments come in, as three kinds of consumers see them. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { natsMissing, runEventRounds } from "@anulo/testkit";

test("consumers see every event of a killed service once and in order", {
  skip: natsMissing(),
}, async (t) => {
  const { counts, events, refused } = await runEventRounds({ rounds: 3, payments: 60, seed: "short" });
  // Journals know after a kill what they had told, so that nothing ends the history of a wallet.
  assert.equal(counts.get("events_started"), 1);
  t.diagnostic(`${events} events, ${refused} webhooks refused`);
});
