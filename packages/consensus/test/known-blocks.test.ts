import assert from "node:assert/strict";
import { test } from "node:test";
import { keccak256 } from "@anulo/crypto";
import { BadKnownBlocks, KNOWN_GROUP_BLOCKS, parseKnownBlocks, writeKnownBlocks } from "../src/index.ts";

const idOf = (height: number) => {
  const id = new Uint8Array(32);
  new DataView(id.buffer).setUint32(0, height, true);
  return id;
};
const ids = Array.from({ length: 2 * KNOWN_GROUP_BLOCKS + 5 }, (_, height) => idOf(height));
const weights = ids.map((_, height) => 1000 + height);
const bytes = writeKnownBlocks(ids, weights);
const group = (from: number, count = KNOWN_GROUP_BLOCKS) => ({
  ids: ids.slice(from, from + count),
  weights: weights.slice(from, from + count),
});

test("known blocks are told from others by group, with their weights or without", () => {
  const known = parseKnownBlocks(bytes);
  assert.equal(known.height, 2 * KNOWN_GROUP_BLOCKS);
  for (const index of [0, 1]) {
    const right = group(index * KNOWN_GROUP_BLOCKS);
    assert.equal(known.isGroup(index, right), true);
    assert.equal(known.isGroup(index, { ...right, weights: undefined }), true);
    assert.equal(known.isGroup(1 - index, right), false);
    assert.equal(known.isGroup(index, { ...right, weights: [1, ...right.weights.slice(1)] }), false);
    assert.equal(known.isGroup(index, { ...right, ids: [...right.ids].reverse() }), false);
  }
  assert.equal(known.isGroup(2, group(2 * KNOWN_GROUP_BLOCKS)), false);
  assert.equal(known.isGroup(2, group(KNOWN_GROUP_BLOCKS)), false);
  assert.equal(known.isGroup(0, group(0, KNOWN_GROUP_BLOCKS - 1)), false);
});

test("an entry is the hash of the ids and the hash of the weights, 64 bits each, as the original has it", () => {
  const entry = (index: number) => {
    const { ids: own, weights: heavy } = group(index * KNOWN_GROUP_BLOCKS);
    const numbers = Buffer.concat(
      heavy.map((weight) => Buffer.of(weight & 0xff, weight >> 8, 0, 0, 0, 0, 0, 0)),
    );
    return Buffer.concat([keccak256(...own), keccak256(numbers)]);
  };
  assert.deepEqual(Buffer.from(bytes), Buffer.concat([Buffer.of(2, 0, 0, 0), entry(0), entry(1)]));
});

test("the bytes hold one entry for each group they count, no more and no less", () => {
  assert.equal(bytes.length, 4 + 2 * 64);
  assert.equal(parseKnownBlocks(Uint8Array.of(0, 0, 0, 0)).height, 0);
  for (const bad of [
    bytes.subarray(0, 3),
    bytes.subarray(0, -1),
    Buffer.concat([bytes, bytes.subarray(0, 1)]),
  ])
    assert.throws(() => parseKnownBlocks(bad), BadKnownBlocks);
  // A view of a larger buffer is read from its own beginning.
  const inside = Buffer.concat([Uint8Array.of(9, 9, 9), bytes]).subarray(3);
  assert.equal(parseKnownBlocks(inside).height, 2 * KNOWN_GROUP_BLOCKS);
});
