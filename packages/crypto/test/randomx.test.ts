import assert from "node:assert/strict";
import { randomInt } from "node:crypto";
import { before, test } from "node:test";
import { createRandom, createRandomXCache, itemFunctions, type RandomXCache } from "../src/randomx/cache.ts";
import { createMachine } from "../src/randomx/fixed.ts";
import { CACHE_BYTES, DATA, DATASET_ITEMS } from "../src/randomx/memory.ts";
import { generateSuperscalar } from "../src/randomx/superscalar.ts";
import { randomxVectors } from "../src/randomx/vectors.ts";
import { randomxHash } from "../src/randomx/vm.ts";
import { datasetItem } from "../src/reference/randomx.ts";

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString("hex");

let first: RandomXCache;
before(() => {
  first = createRandomXCache(randomxVectors[0]!.key);
});

test("the cache of a key holds the published words", () => {
  const words = new BigUint64Array(first.memory.buffer, DATA);
  assert.equal(words[0], 0x191e0e1d23c02186n);
  assert.equal(words[1568413], 0xf1b62fe6210bf8b1n);
  assert.equal(words[33554431], 0x1f47f056d05cd99bn);
});

test("dataset items begin with the published words", () => {
  const machine = createMachine(first);
  const { items } = machine.slot;
  const { pair, block } = itemFunctions(first);
  const word = (number: number): bigint => {
    const view = new DataView(machine.bytes.buffer, items);
    pair(items, BigInt(number), BigInt(number + 7));
    const [one, two] = [view.getBigUint64(0, true), view.getBigUint64(64, true)];
    block(machine.slot.scratchpad, BigInt(number));
    const scratchpad = new DataView(machine.bytes.buffer, machine.slot.scratchpad);
    assert.equal(scratchpad.getBigUint64(0, true), one);
    assert.equal(scratchpad.getBigUint64(7 * 64, true), two);
    return one;
  };
  assert.equal(word(0), 0x680588a85ae222dbn);
  assert.equal(word(10_000_000), 0x7943a1f6186ffb72n);
  assert.equal(word(20_000_000), 0x9035244d718095e1n);
  assert.equal(word(30_000_000), 0x145a5091f7853099n);
  machine.release();
});

test("dataset items are those of the readable twin", () => {
  const machine = createMachine(first);
  const random = createRandom(machine, first.key);
  const programs = Array.from({ length: 8 }, () => generateSuperscalar(random));
  const { pair } = itemFunctions(first);
  const cache = new DataView(first.memory.buffer, DATA, CACHE_BYTES);
  for (let i = 0; i < 20; i++) {
    const numbers = [0, 1].map(() => BigInt(randomInt(DATASET_ITEMS))) as [bigint, bigint];
    pair(machine.slot.items, ...numbers);
    const computed = Array.from(new BigUint64Array(machine.bytes.buffer, machine.slot.items, 16));
    const expected = numbers.flatMap((number) => datasetItem(cache, programs, number));
    assert.deepEqual(computed, expected, `items ${numbers}`);
  }
  machine.release();
});

test("the published hashes of each version, in turn on one machine", () => {
  let cache = first;
  let checked = 0;
  for (const { key, input, hashes } of randomxVectors) {
    if (hex(key) !== hex(cache.key)) cache = createRandomXCache(key, { memory: cache.memory });
    for (const version of [1, 2, 1] as const) {
      const expected = hashes[version];
      if (expected === undefined) continue;
      assert.equal(hex(randomxHash(cache, input, version)), expected, `version ${version}`);
      checked++;
    }
  }
  assert.equal(checked, 17);
});

test("a key of more than 60 bytes and a blob that does not fit are refused", () => {
  assert.throws(() => createRandomXCache(new Uint8Array(61)), RangeError);
  assert.throws(() => randomxHash(first, new Uint8Array(2 * 1024 * 1024 + 1)), RangeError);
});
