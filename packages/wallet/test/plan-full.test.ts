/** Payments of more than a transaction can spend. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { ATOMIC_UNITS_PER_COIN as coin, sumAmounts } from "@anulo/protocol";
import { createKeys } from "../src/keys/wallet-keys.ts";
import { DEFAULT_PREFERENCES } from "../src/preferences.ts";
import { poolOf } from "../src/transfer/output-pool.ts";
import { estimatedWeight, isFull, outputCount, type PlanContext } from "../src/transfer/plan.ts";
import { planPayment } from "../src/transfer/plan-payment.ts";
import { Preferable } from "../src/transfer/preferable.ts";
import { destinationOf, receive, seededRandom } from "./transfer-fixture.ts";

const random = seededRandom("plan full");
const keys = createKeys(random);
const template = receive(keys, { amount: 1n, globalIndex: 1 }, random);
const outputs = Array.from({ length: 250 }, (_, height) => ({
  ...template,
  amount: coin,
  height,
  globalIndex: BigInt(height),
  txHash: random(32),
}));

const contextWith = (extraSize: number): PlanContext => ({
  fee: { feePerByte: 1_000_000n, quantizationMask: 10_000n },
  extraSize,
  weigh: async ({ inputs, destinations }) =>
    estimatedWeight(inputs.length, outputCount(destinations, inputs), extraSize),
});

const plan = (amount: bigint, context: PlanContext) =>
  planPayment(
    {
      destinations: [destinationOf(keys, amount)],
      groups: Object.assign([{ minor: 0, find: () => poolOf(outputs) }], {
        of: () => ({ minor: 0, find: () => poolOf(outputs) }),
      }),
      dustGroups: Object.assign([], { of: () => undefined }),
      preferable: Preferable.of(outputs),
      random,
      preferences: DEFAULT_PREFERENCES,
    },
    context,
  );

test("of a full transaction only the input that fills it is change, whatever its size", async () => {
  for (let extraSize = 0; extraSize < 1000; extraSize += 50) {
    const context = contextWith(extraSize);
    const [first, ...others] = await plan(200n * coin, context);
    const { inputs, destinations, change, fee } = first!;
    assert.equal(others.length > 0, true);
    assert.deepEqual(
      [isFull(inputs.length - 1, 2, context), isFull(inputs.length, 2, context)],
      [false, true],
    );
    assert.equal(change, coin, `${extraSize} bytes of extra`);
    assert.equal(sumAmounts(destinations), sumAmounts(inputs) - coin - fee);
  }
});
