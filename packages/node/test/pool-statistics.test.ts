import assert from "node:assert/strict";
import { test } from "node:test";
import type { PoolTransaction } from "@anulo/storage";
import { poolStatistics } from "../src/pool/pool-statistics.ts";

const nothing = new Uint8Array(32);
const now = 1_000_000;

function waiting(age: number, more: Partial<PoolTransaction> = {}): PoolTransaction {
  return {
    weight: 1500,
    fee: 30_000_000n,
    receiveTime: now - age,
    lastRelayedTime: BigInt(now - age),
    maxUsedBlockHeight: 1,
    maxUsedBlockHash: nothing,
    lastFailedHeight: 0,
    lastFailedHash: nothing,
    keptByBlock: false,
    relayed: true,
    doNotRelay: false,
    doubleSpendSeen: false,
    phase: "fluff",
    blob: nothing,
    ...more,
  };
}

test("an empty pool has no statistics but zeros", () => {
  const { ages, ...numbers } = poolStatistics([], now);
  assert.deepEqual(ages, []);
  assert.ok(Object.values(numbers).every((value) => value === 0 || value === 0n));
});

test("two transactions of one age share the last of two bins", () => {
  const rows = [waiting(67, { weight: 2166 }), waiting(67, { weight: 2167 })];
  const stats = poolStatistics(rows, now);
  assert.deepEqual(stats.ages, [
    { txs: 0, bytes: 0 },
    { txs: 2, bytes: 4333 },
  ]);
  assert.equal(stats.medianWeight, 2166);
  assert.equal(stats.totalFee, 60_000_000n);
});

test("from fifty on the oldest two percent have a bin of their own", () => {
  const rows = Array.from({ length: 100 }, (_, i) => waiting(i + 1));
  const { ages, age98Percent } = poolStatistics(rows, now);
  assert.equal(age98Percent, 99);
  assert.equal(ages.length, 10);
  assert.deepEqual(ages.at(-1), { txs: 2, bytes: 3000 });
  assert.equal(
    ages.reduce((sum, bin) => sum + bin.txs, 0),
    100,
  );
});

test("what waits long, fails, is not relayed or rivals another is counted", () => {
  const rows = [
    waiting(601),
    waiting(600, { relayed: false }),
    waiting(1, { lastFailedHeight: 5 }),
    waiting(0, { doubleSpendSeen: true }),
  ];
  const stats = poolStatistics(rows, now);
  assert.equal(stats.olderThan10Minutes, 1);
  assert.equal(stats.notRelayed, 1);
  assert.equal(stats.failing, 1);
  assert.equal(stats.doubleSpends, 1);
  assert.equal(stats.oldest, now - 601);
});

// Closes the class of calls with a list that a stranger can make longer than a call's arguments may be.
test("a pool of more transactions than a call takes arguments has statistics", () => {
  const row = waiting(5);
  const { count, smallestWeight, largestWeight, oldest } = poolStatistics(Array(200_000).fill(row), now);
  assert.deepEqual([count, smallestWeight, largestWeight, oldest], [200_000, 1500, 1500, now - 5]);
});

/** Number of transactions and weight in each range of age, for transactions of these ages that weigh as much as they are old. */
function rangesOf(ages: readonly number[]) {
  const stats = poolStatistics(
    ages.map((age) => waiting(age, { weight: age })),
    now,
  );
  return {
    age98Percent: stats.age98Percent,
    txs: stats.ages.map(({ txs }) => txs),
    bytes: stats.ages.map(({ bytes }) => bytes),
  };
}

const upTo = (last: number) => Array.from({ length: last }, (_, i) => i + 1);

test("ages are counted in equal ranges up to the oldest, or up to those older than 98 percent", () => {
  assert.deepEqual(rangesOf([]), { age98Percent: 0, txs: [], bytes: [] });
  assert.deepEqual(rangesOf([5]), { age98Percent: 0, txs: [], bytes: [] });
  assert.deepEqual(rangesOf([1, 2, 3]), { age98Percent: 0, txs: [1, 1, 1], bytes: [1, 2, 3] });
  assert.deepEqual(rangesOf([12, ...upTo(11)]), {
    age98Percent: 0,
    txs: [1, 1, 1, 1, 2, 1, 1, 1, 1, 2],
    bytes: [1, 2, 3, 4, 11, 7, 8, 9, 10, 23],
  });
  assert.deepEqual(rangesOf(upTo(100)), {
    age98Percent: 99,
    txs: [11, 11, 11, 11, 11, 11, 11, 11, 10, 2],
    bytes: [66, 187, 308, 429, 550, 671, 792, 913, 935, 199],
  });
});

test("from fifty transactions on there are outliers, and of one age all are", () => {
  assert.equal(rangesOf(upTo(49)).age98Percent, 0);
  const { age98Percent, txs } = rangesOf(upTo(50));
  assert.deepEqual([age98Percent, txs.at(-1)], [50, 1]);
  const alike = rangesOf(Array(50).fill(7));
  assert.deepEqual([alike.age98Percent, alike.txs], [7, [0, 0, 0, 0, 0, 0, 0, 0, 0, 50]]);
  const oldTwice = rangesOf([...upTo(48), 90, 90]);
  assert.deepEqual([oldTwice.age98Percent, oldTwice.txs.at(-1)], [90, 2]);
});

test("what has just come, or comes from the future, is a second old", () => {
  assert.deepEqual(rangesOf([0, -5]).txs, [0, 2]);
  assert.deepEqual(rangesOf([0, 1, 2]).txs, [0, 2, 1]);
});

test("weights and fees are added up, and the extremes and the median found", () => {
  const rows = [700, 100, 400, 201].map((weight, i) => waiting(i, { weight, fee: BigInt(weight) }));
  const { count, totalWeight, totalFee, smallestWeight, largestWeight, medianWeight } = poolStatistics(
    rows,
    now,
  );
  assert.deepEqual([count, totalWeight, totalFee], [4, 1401, 1401n]);
  assert.deepEqual([smallestWeight, largestWeight, medianWeight], [100, 700, 300]);
  assert.equal(poolStatistics(rows, now).oldest, now - 3);
});
