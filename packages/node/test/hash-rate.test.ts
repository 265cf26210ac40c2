import assert from "node:assert/strict";
import { test } from "node:test";
import { createHashRate } from "../src/mining/hash-rate.ts";

test("a rate is of the hashes since the last one, by the second", () => {
  let now = 1000;
  const rate = createHashRate(() => now);
  assert.deepEqual([rate.latest, rate.average], [0, 0]);
  rate.add(30);
  rate.add(20);
  now += 500;
  assert.equal(rate.measure(), 100);
  assert.deepEqual([rate.latest, rate.average], [100, 100]);
  now += 2000;
  rate.add(100);
  assert.equal(rate.measure(), 50);
  assert.deepEqual([rate.latest, rate.average], [50, 75]);
  // Within one millisecond.
  rate.add(3);
  assert.equal(rate.measure(), 3000);
});

test("the average is that of the last 19", () => {
  let now = 0;
  const rate = createHashRate(() => now);
  for (const hashes of [1900, ...Array<number>(18).fill(0)]) {
    rate.add(hashes);
    now += 1000;
    rate.measure();
  }
  assert.equal(rate.average, 100);
  now += 1000;
  rate.measure();
  assert.equal(rate.average, 0);
});
