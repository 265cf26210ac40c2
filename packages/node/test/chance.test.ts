/** Numbers and choices that follow from random bytes: with bytes the test decides. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { pick, poisson, randomBelow } from "../src/peers/chance.ts";

/** Bytes of these words of 32 bits, one after the other; then of zeros. */
function bytesOf(...words: readonly number[]) {
  const left = [...words];
  const random = (size: number) => {
    const bytes = Buffer.alloc(size);
    for (let at = 0; at + 4 <= size; at += 4) bytes.writeUInt32LE(left.shift() ?? 0, at);
    return bytes;
  };
  return { random, left };
}

test("a number below an end is as likely as any other: the last words, which favour some, are left out", () => {
  const { random } = bytesOf(0, 1, 6, 7, 8);
  assert.deepEqual(
    [0, 0, 0, 0, 0].map(() => randomBelow(7, random)),
    [0, 1, 6, 0, 1],
  );
  // 2^32 is 4 more than a multiple of 7.
  const last = 2 ** 32 - 5;
  assert.equal(randomBelow(7, bytesOf(last).random), 6);
  assert.equal(randomBelow(7, bytesOf(last + 1, 2 ** 32 - 1, 3).random), 3);
  assert.equal(randomBelow(1, bytesOf(2 ** 32 - 1).random), 0);
});

/** The words of a number from 0 to below 1, in 1/16. */
const wordsOf = (count: number) => [count * 2 ** 28, 0];

test("events are counted until their product has fallen to the limit", () => {
  const mean = Math.log(4);
  // The limit is a quarter: a product of exactly that ends the count.
  const events = (...units: number[]) => poisson(mean, bytesOf(...units.flatMap(wordsOf)).random);
  assert.equal(events(0), 0);
  assert.equal(events(3), 0);
  assert.equal(events(8, 7), 1);
  assert.equal(events(15, 15, 15, 1), 3);
  assert.equal(events(8, 15, 8), 2);
  assert.equal(poisson(0, bytesOf(2 ** 32 - 1, 2 ** 32 - 1).random), 0);
});

test("events come in the number that is expected, about", () => {
  let state = 1;
  const random = (size: number) => {
    const bytes = Buffer.alloc(size);
    for (let at = 0; at < size; at++) {
      state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
      bytes[at] = state >>> 16;
    }
    return bytes;
  };
  const counts = Array.from({ length: 2000 }, () => poisson(5, random));
  const mean = counts.reduce((sum, count) => sum + count, 0) / counts.length;
  assert.ok(Math.abs(mean - 5) < 0.3, `${mean}`);
  assert.ok(counts.every((count) => count >= 0));
});

test("different values are picked, all of them where there are no more, and the list stays", () => {
  const values = ["a", "b", "c", "d"];
  assert.deepEqual(pick(values, 2, bytesOf(3, 0).random), ["d", "a"]);
  assert.deepEqual(pick(values, 3, bytesOf(1, 1, 1).random), ["b", "c", "d"]);
  assert.deepEqual(pick(values, 9, bytesOf().random), values);
  assert.deepEqual(pick(values, 0, bytesOf().random), []);
  assert.deepEqual(pick([], 2, bytesOf().random), []);
  assert.deepEqual(values, ["a", "b", "c", "d"]);
});
