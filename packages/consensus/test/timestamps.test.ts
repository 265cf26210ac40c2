import assert from "node:assert/strict";
import { test } from "node:test";
import { adjustedTime, checkTimestamp, isUnlocked, medianTimestamp } from "../src/index.ts";
import { fakeContext, fakeView } from "./fake-view.ts";
import { assertRefused } from "./refusals.ts";

/** Of the heights 940 to 999. */
const MEDIAN = 1_000_000 + 120 * 969 + 60;

test("a block is not older than the median of 60", () => {
  assert.equal(medianTimestamp(fakeView()), MEDIAN);
  checkTimestamp(MEDIAN, fakeView(), 2_000_000);
  assertRefused(() => checkTimestamp(MEDIAN - 1, fakeView(), 2_000_000), "TIMESTAMP_TOO_EARLY");
});

test("a chain of 59 blocks has no median to keep", () => {
  checkTimestamp(0, fakeView({ height: 59 }), 2_000_000);
  assertRefused(() => checkTimestamp(0, fakeView({ height: 60 }), 2_000_000), "TIMESTAMP_TOO_EARLY");
});

test("a block is at most two hours ahead of the clock", () => {
  checkTimestamp(2_007_200, fakeView(), 2_000_000);
  assertRefused(() => checkTimestamp(2_007_201, fakeView(), 2_000_000), "TIMESTAMP_TOO_LATE");
});

test("the chain's own time is the smaller of projected median and latest time", () => {
  const latest = 1_000_000 + 120 * 999;
  assert.equal(adjustedTime(fakeView(), 5), Math.min(latest + 120, MEDIAN + 61 * 60));
  const jumping = { recentTimestamps: () => [...Array(59).fill(1000), 900_000_000] };
  assert.equal(adjustedTime(fakeView(jumping), 5), 1000 + 3660);
  const falling = { recentTimestamps: () => [2000, ...Array(59).fill(1000)] };
  assert.equal(adjustedTime(fakeView(falling), 5), 2120);
  assert.equal(adjustedTime(fakeView({ height: 59 }), 5), 5);
});

test("an unlock time below 500,000,000 is a height, and opens for the block at that height", () => {
  assert.equal(isUnlocked(999n, fakeContext()), true);
  assert.equal(isUnlocked(1000n, fakeContext()), true);
  assert.equal(isUnlocked(1001n, fakeContext()), false);
});

/** A time at which everything that is read as a time below 500,000,000 is long over. */
const LATE = 600_000_000;

// Consensus boundary: one unlock time read the other way splits the chain.
test("of the unlock times at 500,000,000 the last height is no time and the first time no height", () => {
  const at = (hardForkVersion: number, now: number, height = 1000) =>
    fakeContext({ hardForkVersion, height }, now);
  assert.equal(isUnlocked(499_999_998n, at(12, LATE)), false);
  assert.equal(isUnlocked(499_999_999n, at(12, LATE)), false);
  assert.equal(isUnlocked(499_999_999n, at(12, 0, 499_999_999)), true);
  assert.equal(isUnlocked(500_000_000n, at(12, 0, 499_999_999)), false);
  assert.equal(isUnlocked(500_000_000n, at(12, 0, 500_000_001)), false);
  assert.equal(isUnlocked(500_000_000n, at(12, 500_000_000 - 120)), true);
  assert.equal(isUnlocked(500_000_000n, at(12, 500_000_000 - 121)), false);
  assert.equal(isUnlocked(500_000_001n, at(12, 500_000_000 - 119)), true);
  assert.equal(isUnlocked(500_000_001n, at(12, 500_000_000 - 120)), false);
});

test("from hard fork 13 the same boundary is judged by the chain's time, whatever the clock says", () => {
  // All at one time: the latest and one target is sooner than the projected median.
  const at = (latest: number) => {
    const recentTimestamps = (count: number) => Array.from({ length: count }, () => latest);
    return fakeContext({ hardForkVersion: 13, recentTimestamps }, 0);
  };
  assert.equal(isUnlocked(499_999_999n, at(LATE)), false);
  assert.equal(isUnlocked(500_000_000n, at(500_000_000 - 240)), true);
  assert.equal(isUnlocked(500_000_000n, at(500_000_000 - 241)), false);
  assert.equal(isUnlocked(500_000_001n, at(500_000_000 - 240)), false);
});

test("any other unlock time is a time, with one target of leeway by the fork's own clock", () => {
  const at = (hardForkVersion: number, height = 1000) => fakeContext({ hardForkVersion, height }, LATE);
  assert.equal(isUnlocked(600_000_120n, at(12)), true);
  assert.equal(isUnlocked(600_000_121n, at(12)), false);
  assert.equal(isUnlocked(600_000_120n, at(2)), true);
  assert.equal(isUnlocked(600_000_121n, at(2)), false);
  assert.equal(isUnlocked(600_000_060n, at(1)), true);
  assert.equal(isUnlocked(600_000_061n, at(1)), false);
  assert.equal(isUnlocked(600_000_120n, at(13)), false);
  assert.equal(isUnlocked(600_000_120n, at(13, 59)), true);
  assert.equal(isUnlocked(600_000_121n, at(13, 59)), false);
});
