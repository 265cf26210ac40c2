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
  assert.equal(isUnlocked(1000n, fakeContext()), true);
  assert.equal(isUnlocked(1001n, fakeContext()), false);
  assert.equal(isUnlocked(499_999_999n, fakeContext()), false);
});

test("any other unlock time is a time: the clock's before hard fork 13, then the chain's", () => {
  const now = 600_000_000;
  const at = (hardForkVersion: number, height = 1000) => fakeContext({ hardForkVersion, height }, now);
  assert.equal(isUnlocked(600_000_120n, at(12)), true);
  assert.equal(isUnlocked(600_000_121n, at(12)), false);
  assert.equal(isUnlocked(600_000_060n, at(1)), true);
  assert.equal(isUnlocked(600_000_061n, at(1)), false);
  assert.equal(isUnlocked(500_000_000n, at(13)), false);
  assert.equal(isUnlocked(600_000_120n, at(13, 59)), true);
});
