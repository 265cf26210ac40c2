import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import {
  type BlockFacts,
  type ChainWindow,
  createChainWindow,
  createRollingMedian,
  median,
} from "../src/index.ts";

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

test("a rolling median goes back as it came, and knows what zeros would make of it", () => {
  const values = fc.array(fc.integer({ min: 0, max: 20 }), { maxLength: 40 });
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 12 }), values, values, (capacity, first, later) => {
      const rolling = createRollingMedian(capacity, first);
      const all = [...first];
      for (const value of later) {
        rolling.push(value);
        all.push(value);
      }
      while (all.length > 0) {
        for (const zeros of [0, 1, 3, capacity, capacity + 2]) {
          const after = [...all, ...Array<number>(zeros).fill(0)].slice(-capacity);
          assert.equal(rolling.medianAfterZeros(zeros), median(after));
        }
        all.pop();
        const left = all.length - capacity;
        // What left before the first value was seen cannot be known.
        rolling.pop(left >= 0 ? all[left] : undefined);
        assert.equal(rolling.median(), median(all.slice(-capacity)));
      }
      assert.throws(() => rolling.pop(undefined), RangeError);
    }),
  );
});

test("zeros in the place of equal values leave as many of those as there were", () => {
  const few = fc.array(fc.integer({ min: 0, max: 3 }), { minLength: 6, maxLength: 12 });
  fc.assert(
    fc.property(fc.integer({ min: 3, max: 8 }), few, fc.nat(9), (capacity, all, zeros) => {
      const rolling = createRollingMedian(capacity, all);
      const after = [...all, ...Array<number>(zeros).fill(0)].slice(-capacity);
      assert.equal(rolling.medianAfterZeros(zeros), median(after));
    }),
    { numRuns: 400 },
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

test("the long-term median is that of the last 100,000 blocks, whether blocks are put on or taken off", () => {
  const weightAt = (height: number) => (height * 104_729) % 1_000_003;
  const range = <T>(from: number, to: number, of: (height: number) => T) =>
    Array.from({ length: to - from }, (_, i) => of(from + i));
  const factsAt = (height: number): BlockFacts => ({
    timestamp: height,
    cumulativeDifficulty: BigInt(height),
    weight: 1,
    longTermWeight: weightAt(height),
  });
  const expected = (height: number) => median(range(Math.max(0, height - 100_000), height, weightAt));
  const window = createChainWindow(
    100_002,
    (from, to) => range(from, to, factsAt),
    (from, to) => range(from, to, weightAt),
  );
  assert.equal(window.longTermWeightMedian, expected(100_002));
  for (const height of [100_002, 100_003]) {
    window.append(factsAt(height));
    assert.equal(window.longTermWeightMedian, expected(height + 1));
  }
  for (let height = 100_003; height > 99_997; height--) {
    window.removeTop();
    assert.equal(window.longTermWeightMedian, expected(height));
  }
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
  const shrunk = load(1500);
  for (let height = 1500; height > 700; height--) shrunk.removeTop();
  assert.deepEqual(allOf(shrunk), allOf(load(700)));
  while (shrunk.height > 0) shrunk.removeTop();
  assert.deepEqual(allOf(shrunk), allOf(load(0)));
  assert.throws(() => shrunk.removeTop(), /there is no block to take off/);
  const there = load(1000);
  for (const block of blocks.slice(1000, 1003)) there.append(block);
  for (let i = 0; i < 5; i++) there.removeTop();
  assert.deepEqual(allOf(there), allOf(load(998)));
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

test("a window of a young chain has every block from genesis on", () => {
  const asked: [number, number][] = [];
  const facts = (from: number, to: number): BlockFacts[] => {
    asked.push([from, to]);
    return Array.from({ length: to - from }, (_, i) => ({
      timestamp: from + i,
      cumulativeDifficulty: BigInt(from + i + 1),
      weight: 1,
      longTermWeight: 1,
    }));
  };
  for (const [height, first] of [
    [3, 0],
    [734, 0],
    [735, 0],
    [736, 1],
  ] as const) {
    const window = createChainWindow(height, facts, () => []);
    const count = height - first;
    assert.equal(window.recentTimestamps(count)[0], first);
    assert.equal(window.recentTimestamps(735).length, count);
    assert.deepEqual(asked.at(-1), [first, height]);
  }
});

/** Everything a window says. */
function allOf(window: ChainWindow) {
  const { height, top, longTermWeightMedian } = window;
  const windows = {
    timestamps: window.recentTimestamps(735),
    difficulties: window.recentCumulativeDifficulties(735),
    weights: window.recentWeights(735),
  };
  return { height, top, longTermWeightMedian, ...windows };
}
