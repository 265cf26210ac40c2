/** Sets of keys by their hashes: what was added is found however they grow, and what was not is not. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { KeyHashes, KeySet } from "../src/outputs/key-set.ts";
import { seededRandom } from "./transfer-fixture.ts";

const KEY_BYTES = 32;
/** Above several limits at which a set grows: 11, 22, 43, … keys. */
const KEYS = 200;

const random = seededRandom("sets of keys");
const all = random(KEY_BYTES * 2 * KEYS);
const present = all.subarray(0, KEY_BYTES * KEYS);
const hashes = new KeyHashes((factors) => {
  factors.set(new Uint32Array(random(factors.byteLength).slice().buffer));
});

/** Which of the first keys a set has. */
const has = (set: KeySet, count = 2 * KEYS) =>
  Array.from({ length: count }, (_, key) => set.has(all, key * KEY_BYTES));
const expected = (count: number) => Array.from({ length: 2 * KEYS }, (_, key) => key < count);

test("a set has the keys that were added, each once, whatever its size", () => {
  const set = new KeySet(hashes);
  assert.deepEqual([set.size, set.has(all)], [0, false]);
  for (let count = 1; count <= KEYS; count++) {
    const key = present.subarray((count - 1) * KEY_BYTES, count * KEY_BYTES);
    set.add(key);
    set.add(key);
    assert.equal(set.size, count);
    if (count < 50 || count === KEYS) assert.deepEqual(has(set), expected(count), `of ${count} keys`);
  }
});

test("keys of which only the hashes are known are the same keys", () => {
  const set = new KeySet(hashes);
  const hashed = hashes.all(present);
  assert.equal(hashed.length, 2 * KEYS);
  set.addHashes(hashed.subarray(0, 2));
  assert.deepEqual(has(set), expected(1));
  set.addHashes(hashed);
  assert.deepEqual([set.size, has(set)], [KEYS, expected(KEYS)]);
  set.add(present);
  assert.equal(set.size, KEYS);
});

test("keys whose first hashes are the same are told apart", () => {
  const set = new KeySet(hashes);
  for (let second = 1; second <= 100; second++) {
    set.addHashes(Uint32Array.of(7, second, 7, second, 7 + second, 500));
    assert.equal(set.size, 2 * second);
  }
});

test("each byte of a key counts for both hashes, and the place where it begins", () => {
  const key = all.slice(0, KEY_BYTES);
  const both = (bytes: Uint8Array, at = 0) => [hashes.hash(bytes, at, 0), hashes.hash(bytes, at, 1)];
  const [first, second] = both(key);
  assert.notEqual(first, second);
  for (let at = 0; at < KEY_BYTES; at++) {
    const other = key.slice();
    other[at]! ^= 1;
    const [otherFirst, otherSecond] = both(other);
    assert.ok(otherFirst !== first && otherSecond !== second, `byte ${at}`);
  }
  assert.deepEqual(both(all, KEY_BYTES), both(all.slice(KEY_BYTES, 2 * KEY_BYTES)));
  assert.deepEqual([...hashes.all(all.subarray(0, 2 * KEY_BYTES))], [...both(all), ...both(all, KEY_BYTES)]);
});

/** A hash as its description says, in whole numbers. */
function hashByWords(key: Uint8Array, factors: readonly number[]): number {
  const words = new DataView(key.buffer, key.byteOffset, KEY_BYTES);
  let hash = BigInt(factors[8]!);
  for (let i = 0; i < 8; i++) {
    hash = BigInt.asUintN(32, (hash ^ BigInt(words.getUint32(4 * i, true))) * BigInt(factors[i]!));
    hash ^= hash >> 15n;
  }
  return Number(hash);
}

test("a hash multiplies and folds, word by word", () => {
  const factors = [...new Uint32Array(hashes.factors.buffer)];
  for (let key = 0; key < 20; key++) {
    const bytes = all.subarray(key * KEY_BYTES, (key + 1) * KEY_BYTES);
    assert.equal(hashes.hash(bytes, 0, 0), hashByWords(bytes, factors.slice(0, 9)));
    assert.equal(hashes.hash(bytes, 0, 1), hashByWords(bytes, factors.slice(9)));
  }
});

test("each of the two hashes has nine factors of its own", () => {
  const factors = hashes.factors;
  const before = hashes.all(all.subarray(0, KEY_BYTES));
  for (let i = 0; i < 18; i++) {
    const other = factors.slice();
    other[4 * i]! ^= 2; // it stays odd
    const after = KeyHashes.of(other).all(all.subarray(0, KEY_BYTES));
    const isSame = [0, 1].map((which) => before[which] === after[which]);
    assert.deepEqual(isSame, i < 9 ? [false, true] : [true, false], `factor ${i}`);
  }
});

test("the second hash of no key is that of a free slot", () => {
  const nothing = new KeyHashes((factors) => factors.fill(0));
  // Factors are odd: those of nothing are 1, and a first word of 1 makes the hash 0.
  const zero = new Uint8Array(KEY_BYTES);
  zero[0] = 1;
  assert.deepEqual([nothing.hash(zero, 0, 0), nothing.hash(zero, 0, 1)], [0, 1]);
  const set = new KeySet(nothing);
  set.add(zero);
  assert.deepEqual([set.size, set.has(zero), set.has(new Uint8Array(KEY_BYTES).fill(1))], [1, true, false]);
});

test("hashes are made again of their factors, of which a copy is given", () => {
  const { factors } = hashes;
  assert.equal(factors.length, 2 * 9 * 4);
  assert.ok(new Uint32Array(factors.buffer).every((factor) => factor % 2 === 1));
  const again = KeyHashes.of(factors);
  assert.deepEqual(again.all(present), hashes.all(present));
  factors.fill(0);
  assert.notDeepEqual(hashes.factors, factors);
  assert.deepEqual(again.factors, hashes.factors);
  for (const wrong of [0, 71, 73]) assert.throws(() => KeyHashes.of(new Uint8Array(wrong)), RangeError);
});
