/** Random choices from bytes that are known, so that each choice is known, too. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { inBulk, randomGamma, randomIndex, randomReal, shuffled } from "../src/transfer/random.ts";
import { ofReal, sourceOf } from "./known-random.ts";

const MAX = 2n ** 64n - 1n;

test("a real is made of the upper 53 bits, and is below 1", () => {
  assert.equal(randomReal(sourceOf(0n)), 0);
  assert.equal(randomReal(sourceOf(2n ** 11n - 1n)), 0);
  assert.equal(randomReal(sourceOf(2n ** 11n)), 2 ** -53);
  assert.equal(randomReal(sourceOf(2n ** 63n)), 0.5);
  assert.equal(randomReal(sourceOf(MAX)), 1 - 2 ** -53);
});

test("numbers of the last part of the range, which would favour some choices, are not used", () => {
  for (const [bound, rest] of [
    [3, 1n],
    [10, 6n],
    [2 ** 53 - 1, 2048n],
  ] as const) {
    const fair = 2n ** 64n - rest;
    assert.equal(fair % BigInt(bound), 0n);
    assert.equal(randomIndex(sourceOf(fair - 1n), bound), bound - 1);
    assert.equal(randomIndex(sourceOf(fair, MAX, 4n), bound), 4 % bound);
  }
  assert.equal(randomIndex(sourceOf(MAX), 1), 0);
  for (const bound of [0, -1, 1.5, 2 ** 53])
    assert.throws(() => randomIndex(sourceOf(), bound), /^RangeError: nothing to choose from$/);
});

test("items change places from the last on, each with one before it or itself", () => {
  const items = ["a", "b", "c", "d"];
  const source = sourceOf(4n, 5n, 3n);
  // d with a; c with itself; b with itself.
  assert.deepEqual(shuffled(items, source), ["d", "b", "c", "a"]);
  assert.equal(source.left(), 0);
  assert.deepEqual(shuffled(items, sourceOf(3n, 3n, 2n)), ["b", "c", "a", "d"]);
  assert.deepEqual(items, ["a", "b", "c", "d"], "the list itself is as it was");
  assert.deepEqual(shuffled(["a"], sourceOf()), ["a"]);
  assert.deepEqual(shuffled([], sourceOf()), []);
});

test("bytes are asked for in bulk, each used once, and more at once than that if need be", () => {
  const sizes: number[] = [];
  let next = 0;
  const random = inBulk((size) => {
    sizes.push(size);
    return Uint8Array.from({ length: size }, () => next++);
  }, 10);
  assert.deepEqual([...random(4), ...random(6)], [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
  assert.deepEqual(sizes, [10]);
  assert.deepEqual([...random(9)], [10, 11, 12, 13, 14, 15, 16, 17, 18]);
  assert.deepEqual([...random(2)], [20, 21], "what is left of a bulk that is too small is not used");
  assert.deepEqual([...random(12)], [30, 31, 32, 33, 34, 35, 36, 37, 38, 39, 40, 41]);
  assert.deepEqual(sizes, [10, 10, 10, 12]);
  assert.deepEqual(
    [...inBulk((size) => new Uint8Array(size).fill(5))(1)],
    [5],
    "of the source from the first on",
  );
  const sizesOfOwn: number[] = [];
  inBulk((size) => {
    sizesOfOwn.push(size);
    return new Uint8Array(size);
  })(8);
  assert.deepEqual(sizesOfOwn, [4096]);
});

test("a value of the gamma distribution is that of Marsaglia's and Tsang's method", () => {
  const [shape, scale] = [19.28, 1 / 1.61];
  const d = shape - 1 / 3;
  const c = 1 / Math.sqrt(9 * d);
  // u = 0.5 and v = 0.25 make a normal value; a point outside of the circle, or in its middle, makes none.
  const s = 0.5 ** 2 + 0.25 ** 2;
  const normal = 0.5 * Math.sqrt((-2 * Math.log(s)) / s);
  const expected = d * (1 + c * normal) ** 3 * scale;
  const point = [0.75, 0.625].map(ofReal);
  const close = (actual: number, wanted: number) =>
    assert.ok(Math.abs(actual - wanted) < 1e-9 * wanted, `${actual} for ${wanted}`);
  const outside = [ofReal(1 - 2 ** -20), ofReal(1 - 2 ** -20)];
  const middle = [0.5, 0.5].map(ofReal);
  const onEdge = [0, 0.5].map(ofReal);
  const source = sourceOf(...outside, ...middle, ...onEdge, ...point, ofReal(0.5));
  close(randomGamma(source, shape, scale), expected);
  assert.equal(source.left(), 0);
  // The last number may refuse a value: 0 refuses each.
  const refused = sourceOf(...point, 0n, ...point, ofReal(0.5));
  close(randomGamma(refused, shape, scale), expected);
  assert.equal(refused.left(), 0);
});

test("values of either side of the middle are as likely, and one too low for the shape is drawn again", () => {
  const gammaOf = (u: number, v: number, shape: number) => {
    const s = u * u + v * v;
    const normal = u * Math.sqrt((-2 * Math.log(s)) / s);
    const d = shape - 1 / 3;
    return d * (1 + normal / Math.sqrt(9 * d)) ** 3;
  };
  const drawOf = (u: number, v: number) => [(u + 1) / 2, (v + 1) / 2].map(ofReal);
  const below = sourceOf(...drawOf(-0.5, 0.25), ofReal(0.5));
  assert.ok(Math.abs(randomGamma(below, 19.28, 1) - gammaOf(-0.5, 0.25, 19.28)) < 1e-9);
  // Of the shape 1 these come to less than nothing.
  for (const u of [-1 / 32, -1 / 1024]) {
    assert.ok(gammaOf(u, 0, 1) < 0);
    const source = sourceOf(...drawOf(u, 0), ...drawOf(0.5, 0.25), ofReal(0.5));
    assert.ok(Math.abs(randomGamma(source, 1, 1) - gammaOf(0.5, 0.25, 1)) < 1e-9);
    assert.equal(source.left(), 0);
  }
});
