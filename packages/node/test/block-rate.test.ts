import assert from "node:assert/strict";
import { test } from "node:test";
import { unusualBlockRate } from "../src/block-rate.ts";

const now = 1_000_000;

/** Blocks that came one after another, `seconds` apart. */
const every = (seconds: number) => Array.from({ length: 150 }, (_, i) => now - i * seconds);

test("blocks that come about every two minutes are not odd", () => {
  for (const seconds of [100, 120, 150]) assert.equal(unusualBlockRate(every(seconds), now), undefined);
});

test("too few blocks are odd, told for the longest span", () => {
  assert.deepEqual(unusualBlockRate([now - 6000], now), { minutes: 90, blocks: 0, expected: 45 });
});

test("far too many blocks are odd", () => {
  assert.deepEqual(unusualBlockRate(every(60), now), { minutes: 90, blocks: 91, expected: 45 });
});

test("a silence of an hour is odd even after many blocks", () => {
  const timestamps = Array.from({ length: 30 }, (_, i) => now - 3601 - i * 50);
  assert.deepEqual(unusualBlockRate(timestamps, now), { minutes: 60, blocks: 0, expected: 30 });
});
