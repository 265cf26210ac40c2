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
