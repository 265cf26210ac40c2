import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { createKeys } from "../src/keys/wallet-keys.ts";
import type { OwnedOutput } from "../src/state.ts";
import {
  amountOf,
  estimatedWeight,
  outputCount,
  type PlanContext,
  WEIGHT_LIMIT,
} from "../src/transfer/plan.ts";
import { planPayment } from "../src/transfer/plan-payment.ts";
import { planSweep } from "../src/transfer/plan-sweep.ts";
import type { Destination, PlannedTransaction } from "../src/transfer/stages.ts";
import { destinationOf, receive, seededRandom } from "./transfer-fixture.ts";

const random = seededRandom("plan");
const keys = createKeys(random);
const receivers = Array.from({ length: 20 }, () => createKeys(random));
const fee = { feePerByte: 1_000_000n, quantizationMask: 10_000n };
const COIN = 1_000_000_000_000n;

const context: PlanContext = {
  fee,
  extraSize: 0,
  weigh: async ({ inputs, destinations }) =>
    estimatedWeight(inputs.length, outputCount(destinations, inputs), 44),
};

const template = receive(keys, { amount: 1n, globalIndex: 1 }, random);
/** Outputs that differ in what planning looks at. */
function outputOf(amount: bigint, height: number, minor = 0): OwnedOutput {
  return {
    ...template,
    amount,
    height,
    globalIndex: BigInt(height),
    txHash: random(32),
    subaddress: { major: 0, minor },
  };
}

function checkSums(planned: readonly PlannedTransaction[]): void {
  const spent = planned.flatMap(({ inputs }) => inputs);
  assert.equal(new Set(spent).size, spent.length, "no output is spent twice");
  for (const { inputs, destinations, change, fee: paid } of planned) {
    assert.ok(change >= 0n && paid > 0n && destinations.length > 0 && inputs.length > 0);
    assert.equal(amountOf(inputs), amountOf(destinations) + change + paid);
    assert.ok(destinations.every(({ amount }) => amount > 0n));
    assert.ok(estimatedWeight(inputs.length, outputCount(destinations, inputs), 44) < WEIGHT_LIMIT);
  }
}

test("plans pay every destination exactly, whatever the outputs are", async () => {
  const coins = fc.bigInt({ min: COIN / 100n, max: 50n * COIN });
  const outputs = fc.array(fc.tuple(coins, fc.nat(5000), fc.nat(2)), { minLength: 1, maxLength: 120 });
  const amounts = fc.array(fc.bigInt({ min: 1n, max: 40n * COIN }), { minLength: 1, maxLength: 20 });
  await fc.assert(
    fc.asyncProperty(outputs, amounts, async (recipes, wanted) => {
      const owned = recipes.map(([amount, height, minor]) => outputOf(amount, height, minor));
      const destinations = wanted.map((amount, i) => destinationOf(receivers[i]!, amount));
      const groups = [0, 1, 2].map((minor) => owned.filter((output) => output.subaddress.minor === minor));
      const used = groups.filter((group) => group.length > 0);
      const plan = planPayment({ destinations, groups: used, random }, context);
      if (amountOf(owned) < amountOf(destinations)) {
        await assert.rejects(plan, { name: "WalletRefusal", code: -16 });
        return;
      }
      const planned = await plan.catch((error: unknown) => {
        assert.equal((error as { code?: number }).code, -16, String(error));
        assert.ok(amountOf(owned) < amountOf(destinations) + COIN * BigInt(owned.length), "enough was there");
        return undefined;
      });
      if (planned === undefined) return;
      checkSums(planned);
      for (const { spendPublic, amount } of destinations) {
        const paid: Destination[] = planned.flatMap(({ destinations: to }) =>
          to.filter((each) => each.spendPublic === spendPublic),
        );
        assert.equal(amountOf(paid), amount);
      }
    }),
    { numRuns: 150 },
  );
});

test("an output that is enough alone is preferred, with a small unrelated one beside it", async () => {
  const large = outputOf(10n * COIN, 100);
  const small = outputOf(COIN, 2000);
  const related = outputOf(COIN / 2n, 101);
  const destinations = [destinationOf(receivers[0]!, 5n * COIN)];
  const [planned] = await planPayment({ destinations, groups: [[small, large, related]], random }, context);
  assert.deepEqual(new Set(planned!.inputs), new Set([large, small]));
});

test("a second input that would link two payments is left out", async () => {
  const destinations = [destinationOf(receivers[0]!, 5n * COIN)];
  const groups = [[outputOf(10n * COIN, 100), outputOf(COIN, 105)]];
  const [planned] = await planPayment({ destinations, groups, random }, context);
  assert.equal(planned!.inputs.length, 1);
});

test("sixteen destinations take two transactions", async () => {
  const destinations = receivers.slice(0, 16).map((receiver) => destinationOf(receiver, 1000n));
  const groups = [[outputOf(COIN, 100), outputOf(COIN, 500), outputOf(COIN, 900)]];
  const planned = await planPayment({ destinations, groups, random }, context);
  assert.equal(planned.length, 2);
  checkSums(planned);
});

test("sweeping spends every output and shares equally", async () => {
  const inputs = Array.from({ length: 200 }, (_, i) => outputOf(COIN + BigInt(i), 20 * i));
  const destination = destinationOf(receivers[0]!, 0n);
  const planned = await planSweep({ destination, outputs: 3, inputs, random }, context);
  assert.ok(planned.length > 1);
  checkSums(planned);
  assert.equal(planned.flatMap((each) => each.inputs).length, inputs.length);
  for (const { destinations, change } of planned) {
    assert.equal(change, 0n);
    assert.equal(destinations.length, 3);
    assert.ok(destinations[0]!.amount - destinations[2]!.amount <= 1n);
  }
});

test("an output below its own fee can't be swept", async () => {
  const request = {
    destination: destinationOf(receivers[0]!, 0n),
    outputs: 1,
    inputs: [outputOf(1000n, 5)],
    random,
  };
  await assert.rejects(planSweep(request, context), { name: "WalletRefusal" });
});
