import assert from "node:assert/strict";
import { test } from "node:test";
import {
  chainContext,
  checkBlockSize,
  longTermWeight,
  penaltyMedian,
  transactionWeightLimit,
  weightLimits,
} from "../src/index.ts";
import { fakeView } from "./fake-view.ts";
import { assertRefused } from "./refusals.ts";

const weighing = (weight: number) => (count: number) => Array.from({ length: count }, () => weight);

test("small blocks leave the limit at twice the penalty-free zone of their fork", () => {
  const limit = (hardForkVersion: number) => weightLimits(fakeView({ hardForkVersion })).blockLimit;
  assert.deepEqual([1, 2, 4, 5, 9, 10, 16].map(limit), [40_000, 120_000, 120_000, ...Array(4).fill(600_000)]);
});

test("before hard fork 10 the limit follows the last 100 blocks alone", () => {
  const view = fakeView({ hardForkVersion: 9, recentWeights: weighing(20_000_000), longTermWeightMedian: 1 });
  assert.equal(weightLimits(view).effectiveMedian, 20_000_000);
});

test("from hard fork 10 the short-term median may be 50 times the long-term one", () => {
  for (const hardForkVersion of [10, 16]) {
    const view = (weight: number) =>
      fakeView({ hardForkVersion, recentWeights: weighing(weight), longTermWeightMedian: 400_000 });
    assert.equal(weightLimits(view(20_000_000)).effectiveMedian, 20_000_000);
    assert.equal(weightLimits(view(20_000_001)).effectiveMedian, 20_000_000);
    assert.equal(weightLimits(view(20_000_001)).blockLimit, 40_000_000);
  }
});

test("from hard fork 15 the long-term median holds the short-term one up", () => {
  const view = (hardForkVersion: number) => fakeView({ hardForkVersion, longTermWeightMedian: 900_000 });
  assert.equal(weightLimits(view(14)).effectiveMedian, 300_000);
  assert.equal(weightLimits(view(15)).effectiveMedian, 900_000);
  assert.equal(weightLimits(view(15)).longTermEffectiveMedian, 900_000);
});

test("the long-term weight is the weight, bounded above by 1.4 from fork 10 and by 1.7 both ways from 15", () => {
  const bounded = (hardForkVersion: number, weight: number) =>
    longTermWeight(weight, fakeView({ hardForkVersion, longTermWeightMedian: 500_000 }));
  assert.deepEqual(
    [1, 700_000, 700_001].map((weight) => bounded(9, weight)),
    [1, 700_000, 700_001],
  );
  assert.deepEqual(
    [1, 700_000, 700_001].map((weight) => bounded(14, weight)),
    [1, 700_000, 700_000],
  );
  assert.deepEqual(
    [1, 294_117, 294_118, 850_000, 850_001].map((weight) => bounded(16, weight)),
    [294_117, 294_117, 294_118, 850_000, 850_000],
  );
  assert.equal(longTermWeight(1, fakeView({ longTermWeightMedian: 1 })), 176_470);
});

test("the penalty is measured against the last 100 blocks before hard fork 12", () => {
  const options = { recentWeights: weighing(350_000), longTermWeightMedian: 900_000 };
  const medianOf = (hardForkVersion: number) => {
    const view = fakeView({ hardForkVersion, ...options });
    return penaltyMedian(view, weightLimits(view));
  };
  assert.deepEqual([11, 12, 15].map(medianOf), [350_000, 350_000, 900_000]);
  const ofSmall = (hardForkVersion: number) => {
    const view = fakeView({ hardForkVersion });
    return penaltyMedian(view, weightLimits(view));
  };
  assert.deepEqual([10, 11, 12, 13].map(ofSmall), [100, 100, 300_000, 300_000]);
});

test("a transaction weighs a megabyte at most, from hard fork 8 half of the smallest block, less 600 bytes", () => {
  assert.deepEqual(
    [1, 2, 5, 7, 8, 16].map(transactionWeightLimit),
    [1_000_000, 1_000_000, 1_000_000, 1_000_000, 149_400, 149_400],
  );
});

test("a block's own bytes are no more than it may weigh, and 100", () => {
  const limits = weightLimits(fakeView());
  checkBlockSize(600_100, limits);
  assertRefused(() => checkBlockSize(600_101, limits), "BLOCK_SIZE");
});

test("the limits of a chain are found once, however many transactions are judged by them", () => {
  let asked = 0;
  const recentWeights = (count: number) => {
    asked++;
    return weighing(100)(count);
  };
  const view = fakeView({ recentWeights });
  const [first, second] = [chainContext(view, 1), chainContext(view, 2)];
  assert.equal(first.limits, second.limits);
  assert.equal(asked, 1);
  assert.deepEqual([first.now, second.now], [1, 2]);
});
