/** What a sweep needs to pay for itself, to the last atomic unit. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { sumAmounts } from "@anulo/protocol";
import { createKeys } from "../src/keys/wallet-keys.ts";
import { poolOf } from "../src/transfer/output-pool.ts";
import { estimatedFee, type PlanContext } from "../src/transfer/plan.ts";
import { planSweep } from "../src/transfer/plan-sweep.ts";
import { destinationOf, receive, seededRandom } from "./transfer-fixture.ts";

const random = seededRandom("plan sweep");
const keys = createKeys(random);
const fee = { feePerByte: 1_000_000n, quantizationMask: 10_000n };

/** Sweeps one output into so many; the transaction weighs `weight` bytes in the end. */
async function sweep(amount: bigint, { outputs, weight }: { outputs: number; weight: number }) {
  const context: PlanContext = { fee, extraSize: 0, weigh: async () => weight };
  const inputs = poolOf([receive(keys, { amount, globalIndex: 1 }, random)]);
  const destination = destinationOf(keys, 0n);
  const planned = await planSweep({ destination, outputs, inputs, dust: poolOf([]), random }, context);
  assert.equal(planned.length, 1);
  return planned[0]!;
}

const estimate = estimatedFee(1, 2, { fee, extraSize: 0, weigh: async () => 0 });

test("a sweep that can't pay the fee it begins with is short of money; one that can pay just that is not", async () => {
  for (const [outputs, least] of [
    [1, 1n],
    [2, 1n],
    [3, 2n],
  ] as const) {
    const light = { outputs, weight: 1 };
    await assert.rejects(sweep(estimate + least - 1n, light), { kind: "NOT_ENOUGH_UNLOCKED_MONEY" });
    const { destinations, fee: paid, change } = await sweep(estimate + least, light);
    assert.deepEqual([destinations.length, change], [outputs, 0n]);
    assert.equal(sumAmounts(destinations) + paid, estimate + least);
  }
});

test("what is left beside the fee is shared so that the first get more, and each gets something", async () => {
  const weight = 2000;
  const needed = BigInt(weight) * fee.feePerByte;
  const amounts = async (left: bigint, outputs: number) => {
    const { destinations, fee: paid } = await sweep(needed + left, { outputs, weight });
    assert.equal(paid, needed);
    return destinations.map(({ amount }) => amount);
  };
  assert.ok(needed > estimate);
  assert.deepEqual(await amounts(11n, 3), [4n, 4n, 3n]);
  assert.deepEqual(await amounts(9n, 3), [3n, 3n, 3n]);
  assert.deepEqual(await amounts(3n, 3), [1n, 1n, 1n]);
  assert.deepEqual(await amounts(1n, 1), [1n]);
  await assert.rejects(amounts(2n, 3), { kind: "ZERO_AMOUNT" });
  await assert.rejects(amounts(0n, 1), { kind: "GENERIC_TRANSFER_ERROR" });
});
