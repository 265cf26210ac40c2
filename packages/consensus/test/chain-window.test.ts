import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { type BlockFacts, createChainWindow, createRollingMedian, median } from "../src/index.ts";

test("a median of an even number of values is rounded down", () => {
  assert.equal(median([]), 0);
  assert.equal(median([7]), 7);
  assert.equal(median([9, 4]), 6);
  assert.equal(median([3, 1, 2]), 2);
  assert.equal(median([2 ** 53 - 1, 2 ** 53 - 2]), 2 ** 53 - 2);
});

test("a rolling median is the median of the newest values", () => {
  const values = fc.array(fc.integer({ min: 0, max: 50 }), { maxLength: 60 });
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 12 }), values, values, (capacity, first, later) => {
      const rolling = createRollingMedian(capacity, first);
      const all = [...first];
      for (const value of later) {
        assert.equal(rolling.median(), median(all.slice(-capacity)));
        rolling.push(value);
        all.push(value);
      }
      assert.equal(rolling.median(), median(all.slice(-capacity)));
    }),
  );
});

test("a copy of a rolling median leaves the original alone", () => {
  const rolling = createRollingMedian(3, [1, 2, 3]);
  const copy = rolling.copy();
  copy.push(10);
  copy.push(10);
  assert.equal(copy.median(), 10);
  assert.equal(rolling.median(), 2);
  rolling.push(0);
  assert.equal(rolling.median(), 2);
});

test("a window appended to is a window loaded anew", () => {
  const blocks: BlockFacts[] = Array.from({ length: 1500 }, (_, i) => ({
    timestamp: i,
    cumulativeDifficulty: BigInt(i),
    weight: (i * 7919) % 1000,
    longTermWeight: (i * 104_729) % 1000,
  }));
  const load = (height: number) =>
    createChainWindow(
      height,
      (from, to) => blocks.slice(from, to),
      (from, to) => blocks.slice(from, to).map(({ longTermWeight }) => longTermWeight),
    );
  const grown = load(700);
  for (const block of blocks.slice(700)) grown.append(block);
  const loaded = load(1500);
  assert.equal(grown.height, loaded.height);
  assert.deepEqual(grown.recentTimestamps(735), loaded.recentTimestamps(735));
  assert.deepEqual(grown.recentCumulativeDifficulties(735), loaded.recentCumulativeDifficulties(735));
  assert.deepEqual(grown.recentWeights(100), loaded.recentWeights(100));
  assert.equal(grown.longTermWeightMedian, loaded.longTermWeightMedian);
  const longTermWeights = blocks.map(({ longTermWeight }) => longTermWeight);
  assert.equal(
    loaded.longTermWeightMedianAfterEmpty(900),
    median([...longTermWeights, ...Array(900).fill(0)]),
  );
  assert.deepEqual(loaded.recentTimestamps(3), [1497, 1498, 1499]);
  assert.throws(() => loaded.recentTimestamps(736), RangeError);
});
