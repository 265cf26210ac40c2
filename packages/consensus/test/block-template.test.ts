import assert from "node:assert/strict";
import { test } from "node:test";
import { blockReward, type Transaction, transactionWeight } from "@anulo/protocol";
import { chooseTransactions, compareByFee, fitMinerTransaction, templateTimestamp } from "../src/index.ts";
import { fakeView } from "./fake-view.ts";
import { tagged } from "./forge.ts";

const economy = { medianWeight: 300_000, alreadyGenerated: 2n ** 64n - 1n, hardForkVersion: 16 };
const waiting = (weight: number, fee: bigint, receivedAt = 0) => ({ weight, fee, receivedAt });
const always = () => true;

test("transactions come by fee per byte, then by age", () => {
  const [cheap, old, young, dear] = [
    waiting(100, 100n, 1),
    waiting(100, 200n, 1),
    waiting(200, 400n, 2),
    waiting(10, 90n, 9),
  ];
  assert.deepEqual([cheap, young, dear, old].sort(compareByFee), [dear, old, young, cheap]);
});

test("a template takes what fits and does not lower the miner's income", () => {
  const free = waiting(299_000, 0n);
  const poor = waiting(100_000, 1n);
  const rich = waiting(100_000, 600_000_000_000n);
  const choice = chooseTransactions([free, poor, rich], economy, always);
  assert.deepEqual(choice.transactions, [free, rich]);
  assert.equal(choice.weight, 399_000);
  assert.equal(choice.fees, 600_000_000_000n);
  const coins = blockReward({ ...economy, version: 16, weight: 399_000 })!;
  assert.equal(choice.expectedReward, coins + choice.fees);
});

test("a template leaves 600 bytes for the miner transaction", () => {
  const chosen = (weight: number) =>
    chooseTransactions([waiting(weight, 10n ** 15n)], economy, always).transactions.length;
  assert.equal(chosen(599_400), 1);
  assert.equal(chosen(599_401), 0);
});

test("before hard fork 5 a template takes whatever comes until it has passed the median", () => {
  const early = { medianWeight: 60_000, alreadyGenerated: 0n, hardForkVersion: 4 };
  const list = [waiting(40_000, 10n), waiting(30_000, 0n), waiting(1000, 10n ** 12n)];
  assert.deepEqual(chooseTransactions(list, early, always).transactions, list.slice(0, 2));
  const chosen = (weight: number) =>
    chooseTransactions([waiting(weight, 10n)], early, always).transactions.length;
  assert.equal(chosen(77_400), 1);
  assert.equal(chosen(77_401), 0);
  const next = { ...early, hardForkVersion: 5, medianWeight: 300_000 };
  assert.equal(chooseTransactions([waiting(400_000, 10n ** 18n)], next, always).transactions.length, 1);
  assert.equal(chooseTransactions([waiting(400_000, 0n)], next, always).transactions.length, 0);
});

test("what is not ready is left out, and asked only when it would be taken", () => {
  const asked: number[] = [];
  const list = [waiting(700_000, 10n), waiting(1000, 10n), waiting(2000, 10n)];
  const choice = chooseTransactions(list, economy, ({ weight }) => {
    asked.push(weight);
    return weight === 2000;
  });
  assert.deepEqual(asked, [1000, 2000]);
  assert.deepEqual(choice.transactions, [list[2]]);
});

test("an empty pool earns the base reward", () => {
  const { expectedReward, weight } = chooseTransactions([], economy, always);
  assert.deepEqual({ expectedReward, weight }, { expectedReward: 600_000_000_000n, weight: 0 });
});

test("a template's time is the clock's unless the chain's median is later", () => {
  assert.equal(templateTimestamp(fakeView(), 5_000_000), 5_000_000);
  assert.equal(templateTimestamp(fakeView(), 5), 1_000_000 + 120 * 969 + 60);
  assert.equal(templateTimestamp(fakeView({ height: 59 }), 5), 5);
  assert.equal(templateTimestamp(fakeView({ height: 59 }), -5), 0);
});

function minerOf(claim: bigint, extraSize = 34): Transaction {
  const outputs = [tagged(new Uint8Array(32), claim)];
  const extra = new Uint8Array(extraSize).fill(1);
  const prefix = {
    version: 2,
    unlockTime: 160n,
    inputs: [{ type: "generation" as const, height: 100 }],
    outputs,
    extra,
  };
  return { prefix, signatures: [], ringct: { type: 0 } };
}

test("a miner transaction claims exactly what its block earns at the weight it gives it", () => {
  for (const transactionsWeight of [0, 250_000, 299_930, 299_950, 310_000, 450_000, 599_000]) {
    for (const fees of [0n, 1n, 10n ** 10n, 2n ** 42n - 600_000_000_000n]) {
      for (const extraSize of [34, 126, 127, 128]) {
        const fit = { transactionsWeight, fees, economy };
        const transaction = fitMinerTransaction((claim) => minerOf(claim, extraSize), fit);
        const weight = transactionsWeight + transactionWeight(transaction);
        const earned = blockReward({ ...economy, version: 16, weight })! + fees;
        assert.equal(transaction.prefix.outputs[0]!.amount, earned, `weight ${weight}`);
      }
    }
  }
});

test("a claim that shrinks the transaction is padded back with zeros", () => {
  const sizes = [40, 40, 38];
  const transaction = fitMinerTransaction((claim) => minerOf(claim, sizes.shift() ?? 38), {
    transactionsWeight: 0,
    fees: 0n,
    economy,
  });
  assert.equal(transaction.prefix.extra.length, 40);
  const shrinking = [40, 38];
  const padded = fitMinerTransaction((claim) => minerOf(claim, shrinking.shift() ?? 38), {
    transactionsWeight: 0,
    fees: 0n,
    economy,
  });
  assert.equal(padded.prefix.extra.length, 40);
  assert.deepEqual([...padded.prefix.extra.subarray(37)], [1, 0, 0]);
});

test("a block too heavy for any miner is an error", () => {
  const fit = { transactionsWeight: 600_001, fees: 0n, economy };
  assert.throws(() => fitMinerTransaction(minerOf, fit), RangeError);
});

test("before hard fork 5 a block at the median takes one more, and the fee per byte has weight 1 at least", () => {
  const early = { medianWeight: 60_000, alreadyGenerated: 0n, hardForkVersion: 4 };
  const list = [waiting(60_000, 10n), waiting(1000, 0n), waiting(1000, 0n)];
  assert.deepEqual(chooseTransactions(list, early, always).transactions, list.slice(0, 2));
  assert.equal(compareByFee(waiting(0, 10n), waiting(1, 10n)), 0);
  assert.ok(compareByFee(waiting(1, 10n), waiting(2, 10n)) < 0);
});

test("a miner transaction that never fits is built eleven times", () => {
  let built = 0;
  const growing = (claim: bigint) => minerOf(claim, 34 + 10 * built++);
  assert.throws(
    () => fitMinerTransaction(growing, { transactionsWeight: 0, fees: 0n, economy }),
    /no miner transaction fits/,
  );
  assert.equal(built, 11);
});
