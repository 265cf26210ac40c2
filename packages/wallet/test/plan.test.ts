import assert from "node:assert/strict";
import { test } from "node:test";
import { runSliced } from "@anulo/limits";
import { ATOMIC_UNITS_PER_COIN as coin, feeOfWeight, sumAmounts } from "@anulo/protocol";
import fc from "fast-check";
import { createKeys } from "../src/keys/wallet-keys.ts";
import type { OwnedOutput } from "../src/outputs/owned-output.ts";
import { DEFAULT_PREFERENCES, type Preferences } from "../src/preferences.ts";
import { poolOf } from "../src/transfer/output-pool.ts";
import {
  estimatedFee,
  estimatedWeight,
  isFull,
  outputCount,
  type PlanContext,
  WEIGHT_LIMIT,
} from "../src/transfer/plan.ts";
import { type OutputGroup, type OutputGroups, planPayment } from "../src/transfer/plan-payment.ts";
import { planSweep } from "../src/transfer/plan-sweep.ts";
import { Preferable } from "../src/transfer/preferable.ts";
import { pickRandomInput, preferredInputs } from "../src/transfer/select.ts";
import type { Destination, PlannedTransaction } from "../src/transfer/stages.ts";
import { destinationOf, receive, seededRandom } from "./transfer-fixture.ts";

const random = seededRandom("plan");
const keys = createKeys(random);
const receivers = Array.from({ length: 20 }, () => createKeys(random));
const fee = { feePerByte: 1_000_000n, quantizationMask: 10_000n };

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

const groupOf = (outputs: readonly OwnedOutput[]): OutputGroup => ({
  minor: outputs[0]?.subaddress.minor ?? 0,
  find: () => poolOf(outputs),
});

const groupsOf = (lists: readonly (readonly OwnedOutput[])[]): OutputGroups => {
  const groups = lists.map(groupOf);
  return Object.assign(groups, { of: (minor: number) => groups.find((group) => group.minor === minor) });
};

const byAge = (a: OwnedOutput, b: OwnedOutput): number => a.height - b.height;

function payment(
  destinations: readonly Destination[],
  groups: readonly (readonly OwnedOutput[])[],
  dustGroups: readonly (readonly OwnedOutput[])[] = [],
  preferred: Partial<Preferences> = {},
): Promise<PlannedTransaction[]> {
  const preferable = groups
    .flat()
    .filter(({ rct }) => rct)
    .sort(byAge);
  const preferences = { ...DEFAULT_PREFERENCES, ...preferred };
  const request = {
    destinations,
    groups: groupsOf(groups),
    dustGroups: groupsOf(dustGroups),
    preferable: Preferable.of(preferable),
    random,
    preferences,
  };
  return planPayment(request, context);
}

function checkSums(planned: readonly PlannedTransaction[]): void {
  const spent = planned.flatMap(({ inputs }) => inputs);
  assert.equal(new Set(spent).size, spent.length, "no output is spent twice");
  for (const { inputs, destinations, change, fee: paid } of planned) {
    assert.ok(change >= 0n && destinations.length > 0 && inputs.length > 0);
    const weight = estimatedWeight(inputs.length, outputCount(destinations, inputs), 44);
    assert.equal(paid, feeOfWeight(weight, fee.feePerByte, fee.quantizationMask), "no more fee than needed");
    assert.equal(sumAmounts(inputs), sumAmounts(destinations) + change + paid);
    assert.ok(destinations.every(({ amount }) => amount > 0n));
    assert.ok(estimatedWeight(inputs.length, outputCount(destinations, inputs), 44) < WEIGHT_LIMIT);
  }
}

test("plans pay every destination exactly, whatever the outputs are", async () => {
  const coins = fc.bigInt({ min: coin / 100n, max: 50n * coin });
  const outputs = fc.array(fc.tuple(coins, fc.nat(5000), fc.nat(2)), { minLength: 1, maxLength: 120 });
  const amounts = fc.array(fc.bigInt({ min: 1n, max: 40n * coin }), { minLength: 1, maxLength: 20 });
  await fc.assert(
    fc.asyncProperty(outputs, amounts, async (recipes, wanted) => {
      const owned = recipes.map(([amount, height, minor]) => outputOf(amount, height, minor));
      const destinations = wanted.map((amount, i) => destinationOf(receivers[i]!, amount));
      const groups = [0, 1, 2].map((minor) => owned.filter((output) => output.subaddress.minor === minor));
      const used = groups.filter((group) => group.length > 0);
      const planning = payment(destinations, used);
      if (sumAmounts(owned) < sumAmounts(destinations)) {
        await assert.rejects(planning, { name: "WalletRefusal", code: -16 });
        return;
      }
      const planned = await planning.catch((error: unknown) => {
        assert.equal((error as { code?: number }).code, -16, String(error));
        assert.ok(
          sumAmounts(owned) < sumAmounts(destinations) + coin * BigInt(owned.length),
          "enough was there",
        );
        return undefined;
      });
      if (planned === undefined) return;
      checkSums(planned);
      for (const { spendPublic, amount } of destinations) {
        const paid: Destination[] = planned.flatMap(({ destinations: to }) =>
          to.filter((each) => each.spendPublic === spendPublic),
        );
        assert.equal(sumAmounts(paid), amount);
      }
    }),
    { numRuns: 150 },
  );
});

test("an output that is enough alone is preferred, with a small unrelated one beside it", async () => {
  const large = outputOf(10n * coin, 100);
  const small = outputOf(coin, 2000);
  const related = outputOf(coin / 2n, 101);
  const destinations = [destinationOf(receivers[0]!, 5n * coin)];
  const [planned] = await payment(destinations, [[small, large, related]]);
  assert.deepEqual(new Set(planned!.inputs), new Set([large, small]));
});

test("of equal outputs the second input is the one the original would take", async () => {
  const equal = [100, 500, 900, 1300].map((height) => outputOf(coin, height));
  const [planned] = await payment([destinationOf(receivers[0]!, coin / 2n)], [equal]);
  assert.deepEqual(planned!.inputs, [equal[0], equal[3]]);
});

test("a second input that would link two payments is left out", async () => {
  const destinations = [destinationOf(receivers[0]!, 5n * coin)];
  const groups = [[outputOf(10n * coin, 100), outputOf(coin, 105)]];
  const [planned] = await payment(destinations, groups);
  assert.equal(planned!.inputs.length, 1);
});

test("destinations that pay the fee get less, and the change is what it would be without", async () => {
  const amounts = [5n * coin, 3n * coin, 2n * coin];
  const destinations = amounts.map((amount, i) => ({
    ...destinationOf(receivers[i]!, amount),
    paysFee: i !== 1,
  }));
  const exact = await payment(destinations, [[outputOf(10n * coin, 100)]]);
  checkSums(exact);
  assert.equal(exact[0]!.change, 0n);
  const [planned] = await payment(destinations, [[outputOf(12n * coin, 100)]]);
  checkSums([planned!]);
  assert.equal(planned!.change, 2n * coin);
  const paid = receivers
    .slice(0, 3)
    .map(({ spendPublic }) => planned!.destinations.find((each) => each.spendPublic === spendPublic)!.amount);
  assert.deepEqual(paid, [amounts[0]! - planned!.fee / 2n, amounts[1], amounts[2]! - planned!.fee / 2n]);
});

test("destinations that pay the fee must be worth it, and fit one transaction", async () => {
  const payers = (amounts: bigint[]) =>
    amounts.map((amount, i) => ({ ...destinationOf(receivers[i]!, amount), paysFee: true }));
  const groups = [[outputOf(coin, 100), outputOf(coin, 500)]];
  await assert.rejects(payment(payers([1000n]), groups), { code: -16, message: /share of the fee/ });
  const many = payers(Array.from({ length: 16 }, () => coin / 20n));
  await assert.rejects(payment(many, groups), /cannot be split/);
});

test("payments, sweeps and payments whose destinations pay the fee pay for their weight alike", async () => {
  // Some bytes lighter than it is estimated, as most transactions are.
  const lighter: PlanContext = {
    ...context,
    weigh: async ({ inputs, destinations }) =>
      estimatedWeight(inputs.length, outputCount(destinations, inputs), 0) - 7 * inputs.length,
  };
  const owned = [outputOf(3n * coin, 100), outputOf(4n * coin, 500)];
  const pay = (paysFee: boolean) =>
    planPayment(
      {
        destinations: [{ ...destinationOf(receivers[0]!, 5n * coin), paysFee }],
        groups: groupsOf([owned]),
        dustGroups: groupsOf([]),
        preferable: Preferable.of(owned),
        random,
        preferences: DEFAULT_PREFERENCES,
      },
      lighter,
    );
  const sweep = {
    destination: destinationOf(receivers[0]!, 0n),
    outputs: 1,
    inputs: poolOf(owned),
    dust: poolOf([]),
    random,
  };
  const planned = [await pay(false), await pay(true), await planSweep(sweep, lighter)].flat();
  assert.equal(planned.length, 3);
  const ofWeight = feeOfWeight(estimatedWeight(2, 2, 0) - 14, fee.feePerByte, fee.quantizationMask);
  assert.ok(ofWeight < estimatedFee(2, 2, lighter));
  for (const each of planned) assert.equal(each.fee, ofWeight);
});

/** Weighs as it estimates, so that a fee can be foreseen to the last atomic unit. */
const exactContext: PlanContext = {
  ...context,
  weigh: async ({ inputs, destinations }) =>
    estimatedWeight(inputs.length, outputCount(destinations, inputs), 0),
};
const exactly = (destinations: readonly Destination[], groups: readonly (readonly OwnedOutput[])[]) => {
  const preferable = groups.flat().sort(byAge);
  const request = {
    destinations,
    groups: groupsOf(groups),
    dustGroups: groupsOf([]),
    preferable: Preferable.of(preferable),
    random,
    preferences: DEFAULT_PREFERENCES,
  };
  return planPayment(request, exactContext);
};

test("what covers amount and fee to the last atomic unit is enough, one unit less is not", async () => {
  const needed = estimatedFee(1, 2, exactContext);
  const groups = [[outputOf(10n * coin, 100)]];
  const [planned] = await exactly([destinationOf(receivers[0]!, 10n * coin - needed)], groups);
  assert.equal(planned!.fee, needed);
  assert.equal(planned!.change, 0n);
  const tooMuch = exactly([destinationOf(receivers[0]!, 10n * coin - needed + 1n)], groups);
  await assert.rejects(tooMuch, { name: "WalletRefusal", code: -16 });
});

for (const [relation, difference] of [
  ["less than", -1n],
  ["exactly", 0n],
  ["more than", 1n],
] as const) {
  test(`a destination that would get ${relation} the fee before it is split is never left with nothing`, async () => {
    let inputs = 1;
    while (!isFull(inputs, 3, exactContext)) inputs++;
    // Every input but the last is spent on the destinations; what the second one gets has to yield the fee.
    const split = estimatedFee(inputs, 3, exactContext) + difference;
    const destinations = [
      destinationOf(receivers[0]!, BigInt(inputs - 1) * coin - split),
      destinationOf(receivers[1]!, 20n * coin),
    ];
    const owned = Array.from({ length: inputs + 40 }, (_, i) => outputOf(coin, 100 + 10 * i));
    const planned = await exactly(destinations, [owned]);
    assert.ok(planned.length > 1);
    for (const { destinations: to } of planned) assert.ok(to.every(({ amount }) => amount > 0n));
    const paid = planned
      .flatMap(({ destinations: to }) => to)
      .filter(({ spendPublic }) => spendPublic === receivers[1]!.spendPublic);
    assert.equal(sumAmounts(paid), 20n * coin);
    if (difference > 0n) assert.equal(paid[0]!.amount, difference, "all but the fee stays");
    for (const { inputs: spent, destinations: to, change, fee: paidFee } of planned)
      assert.equal(sumAmounts(spent), sumAmounts(to) + change + paidFee);
  });
}

test("sixteen destinations take two transactions", async () => {
  const destinations = receivers.slice(0, 16).map((receiver) => destinationOf(receiver, 1000n));
  const groups = [[outputOf(coin, 100), outputOf(coin, 500), outputOf(coin, 900)]];
  const planned = await payment(destinations, groups);
  assert.equal(planned.length, 2);
  checkSums(planned);
});

/** An output from before RingCT. */
const visible = (amount: bigint, height: number): OwnedOutput => ({
  ...outputOf(amount, height),
  rct: false,
});

test("an output of a visible amount pays when it must, and is no second input without need", async () => {
  const destinations = [destinationOf(receivers[0]!, 5n * coin)];
  const hidden = outputOf(6n * coin, 100);
  const old = visible(coin, 2000);
  const [alone] = await payment(destinations, [[hidden, old]]);
  assert.deepEqual(alone!.inputs, [hidden]);
  const both = await payment([destinationOf(receivers[0]!, (13n * coin) / 2n)], [[hidden, old]]);
  assert.deepEqual(new Set(both[0]!.inputs), new Set([hidden, old]));
  checkSums(both);
});

test("outputs of odd visible amounts are spent last", async () => {
  const dust = Array.from({ length: 4 }, (_, i) => visible(coin + 1n, 20 * i));
  const old = Array.from({ length: 4 }, (_, i) => visible(coin, 1000 + 20 * i));
  const [planned] = await payment([destinationOf(receivers[0]!, (9n * coin) / 2n)], [old], [dust]);
  assert.equal(planned!.inputs.filter((input) => old.includes(input)).length, 4);
  assert.equal(planned!.inputs.filter((input) => dust.includes(input)).length, 1);
});

test("a sweep takes turns between dust and what pays its fee", async () => {
  const inputs = Array.from({ length: 5 }, (_, i) => outputOf(1n, 20 * i));
  const dust = Array.from({ length: 5 }, (_, i) => visible(1n, 1000 + 20 * i));
  const pools = { inputs: poolOf(inputs), dust: poolOf(dust) };
  const request = { destination: destinationOf(receivers[0]!, 0n), outputs: 1, ...pools, random };
  const free = { ...context, fee: { feePerByte: 0n, quantizationMask: 1n } };
  const turns: boolean[] = [];
  await planSweep(request, {
    ...free,
    weigh: async (planned) => {
      if (turns.length === 0) turns.push(...planned.inputs.map(({ rct }) => rct));
      return 0;
    },
  });
  assert.equal(turns.length, 10);
  assert.deepEqual(turns.slice(0, 2), [true, false]);
});

test("sweeping spends every output and shares equally", async () => {
  const inputs = Array.from({ length: 200 }, (_, i) => outputOf(coin + BigInt(i), 20 * i));
  const destination = destinationOf(receivers[0]!, 0n);
  const pools = { inputs: poolOf(inputs), dust: poolOf([]) };
  const planned = await planSweep({ destination, outputs: 3, ...pools, random }, context);
  assert.ok(planned.length > 1);
  checkSums(planned);
  assert.equal(planned.flatMap((each) => each.inputs).length, inputs.length);
  for (const { destinations, change } of planned) {
    assert.equal(change, 0n);
    assert.equal(destinations.length, 3);
    assert.ok(destinations[0]!.amount - destinations[2]!.amount <= 1n);
  }
});

test("a sweep into more outputs than a transaction has is refused", async () => {
  const destination = destinationOf(receivers[0]!, 0n);
  const request = { destination, inputs: poolOf([outputOf(coin, 1)]), dust: poolOf([]), random };
  const [most] = await planSweep({ ...request, outputs: 16 }, context);
  assert.equal(most!.destinations.length, 16);
  for (const outputs of [17, 100_000])
    await assert.rejects(planSweep({ ...request, outputs }, context), { message: "transaction is too big" });
});

test("an output below its own fee can't be swept", async () => {
  const request = {
    destination: destinationOf(receivers[0]!, 0n),
    outputs: 1,
    inputs: poolOf([outputOf(1000n, 5)]),
    dust: poolOf([]),
    random,
  };
  await assert.rejects(planSweep(request, context), { name: "WalletRefusal" });
});

test("of many outputs none too small for a pair is compared with all others", async () => {
  // Each two of these are enough, but all are of the same two blocks: the least related pair is of both.
  const large = [100, 100, 101].map((height) => outputOf(coin, height));
  const small = Array.from({ length: 20_000 }, (_, i) => outputOf(coin / 1000n, 100 + (i % 2)));
  const { source } = Preferable.of([...small.slice(0, 10_000), ...large, ...small.slice(10_000)]);
  let compared = 0;
  const heightAt = (key: number) => {
    compared++;
    return source.heightAt(key);
  };
  const counting = new Preferable({ ...source, heightAt });
  const picked = await runSliced(preferredInputs(counting, (3n * coin) / 2n));
  assert.deepEqual(picked, [large[0], large[2]]);
  assert.ok(compared < 100, `${compared} heights`);
});

test("a random input is one of those least related to the others, however many are related", () => {
  const near = Array.from({ length: 6000 }, (_, i) => outputOf(coin, 1000 + (i % 9)));
  const far = outputOf(coin, 5);
  const chosen = [outputOf(coin, 1004)];
  const few = poolOf([...near.slice(0, 3000), far]);
  assert.equal(few.at(pickRandomInput(few, chosen, random)), far);
  const many = poolOf(near);
  const { height } = many.at(pickRandomInput(many, chosen, random));
  assert.ok(Math.abs(height - 1004) > 1);
});
