import assert from "node:assert/strict";
import { test } from "node:test";
import { RuleViolation } from "@anulo/consensus";
import { Refusals } from "../src/pool/refusals.ts";

test("broken rules are counted by their codes, of blocks and transactions apart; other errors are passed on alone", async () => {
  const refusals = new Refusals();
  const judged = (what: "blocks" | "transactions", error: unknown) =>
    assert.rejects(
      refusals.count(what, () => Promise.reject(error)),
      (thrown) => thrown === error,
    );
  const balance = () => new RuleViolation({ code: "BALANCE" } as never);
  const work = new RuleViolation({ code: "PROOF_OF_WORK", difficulty: 1n });
  await judged("transactions", balance());
  await judged("transactions", balance());
  await judged("blocks", balance());
  await judged("blocks", work);
  await judged("blocks", new Error("a bug of ours"));
  assert.equal(await refusals.count("blocks", async () => 7), 7);
  assert.deepEqual([...refusals.transactions], [["BALANCE", 2]]);
  assert.deepEqual(
    [...refusals.blocks],
    [
      ["BALANCE", 1],
      ["PROOF_OF_WORK", 1],
    ],
  );
});
