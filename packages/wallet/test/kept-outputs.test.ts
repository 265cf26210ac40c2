/** A second input that a payment does not need: taken from large outputs only while there are enough of them. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { createKeys } from "../src/keys/wallet-keys.ts";
import type { OwnedOutput } from "../src/outputs/owned-output.ts";
import { DEFAULT_PREFERENCES, type Preferences } from "../src/preferences.ts";
import { poolOf } from "../src/transfer/output-pool.ts";
import { estimatedWeight, outputCount, type PlanContext } from "../src/transfer/plan.ts";
import { type OutputGroups, planPayment } from "../src/transfer/plan-payment.ts";
import { Preferable } from "../src/transfer/preferable.ts";
import { destinationOf, receive, seededRandom } from "./transfer-fixture.ts";

const random = seededRandom("kept outputs");
const keys = createKeys(random);
const context: PlanContext = {
  ...{ fee: { feePerByte: 1n, quantizationMask: 1n }, extraSize: 0 },
  weigh: async ({ inputs, destinations }) =>
    estimatedWeight(inputs.length, outputCount(destinations, inputs), 44),
};

/** Outputs that nothing links to one another, or of these heights. */
const owned = (amounts: readonly bigint[], heights = amounts.map((_, i) => 100 * i)): OwnedOutput[] =>
  amounts.map((amount, i) => receive(keys, { amount, globalIndex: i, height: heights[i]! }, random));

/** The amounts that a payment of 500,000 takes. */
async function taken(outputs: readonly OwnedOutput[], more: Partial<Preferences>): Promise<bigint[]> {
  const groups = [{ minor: 0, find: () => poolOf(outputs) }];
  const none: OutputGroups = Object.assign([], { of: () => undefined });
  const [planned] = await planPayment(
    {
      destinations: [destinationOf(keys, 500_000n)],
      groups: Object.assign(groups, { of: () => groups[0] }),
      dustGroups: none,
      preferable: Preferable.of(outputs),
      ...{ random, preferences: { ...DEFAULT_PREFERENCES, ...more } },
    },
    context,
  );
  return planned!.inputs.map(({ amount }) => amount);
}

const WHOLE = 1_000_000n;

test("a large output is added only while as many are left as are to be kept", async () => {
  const large = (count: number) => owned([WHOLE, ...Array<bigint>(count).fill(1000n)]);
  for (const [keptCount, count, isAdded] of [
    [0n, 1, true],
    [1n, 1, true],
    [2n, 1, false],
    [2n, 2, true],
    [3n, 2, false],
    [3n, 3, true],
  ] as const) {
    const inputs = await taken(large(count), { keptValue: 1000n, keptCount });
    assert.deepEqual(inputs, isAdded ? [WHOLE, 1000n] : [WHOLE], `${count} of ${keptCount}`);
  }
});

test("an output counts as large from the value on that is to be kept", async () => {
  const kept = { keptCount: 9n };
  assert.deepEqual(await taken(owned([WHOLE, 999n]), { ...kept, keptValue: 1000n }), [WHOLE, 999n]);
  assert.deepEqual(await taken(owned([WHOLE, 1000n]), { ...kept, keptValue: 1000n }), [WHOLE]);
  assert.deepEqual(await taken(owned([WHOLE, 1001n]), { ...kept, keptValue: 1000n }), [WHOLE]);
  const mixed = owned([WHOLE, 1000n, 999n, 1001n, 998n]);
  assert.deepEqual(await taken(mixed, { ...kept, keptValue: 1000n }), [WHOLE, 998n]);
});

test("no output is added that something links to the first", async () => {
  const heights = (apart: number) => [100, 100 + apart];
  const none = { keptValue: 0n, keptCount: 0n };
  for (const [apart, isAdded] of [
    [0, false],
    [1, false],
    [9, false],
    [10, true],
  ] as const) {
    const inputs = await taken(owned([WHOLE, 5000n], heights(apart)), none);
    assert.deepEqual(inputs, isAdded ? [WHOLE, 5000n] : [WHOLE], `${apart} blocks apart`);
  }
});
