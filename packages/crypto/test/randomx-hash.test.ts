import assert from "node:assert/strict";
import { randomBytes, randomInt } from "node:crypto";
import { test } from "node:test";
import { blake2b as otherBlake2b } from "@noble/hashes/blake2.js";
import { blake2b } from "../src/hash/blake2b.ts";
import { createRandomXCache, itemFunctions, type RandomXCache } from "../src/randomx/cache.ts";
import { randomxCommitment } from "../src/randomx/commitment.ts";
import { createMachine } from "../src/randomx/fixed.ts";
import { useSplitTiering } from "../src/randomx/tiering.ts";
import { randomxVectors } from "../src/randomx/vectors.ts";
import type { RandomXVersion } from "../src/randomx/versions.ts";
import { createRandomXVm } from "../src/randomx/vm.ts";
import { randomxHash } from "../src/reference/randomx-hash.ts";

// Whole hashes: those of programs and dataset items are compared in other files.

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString("hex");
const VERSIONS = [1, 2] as const;
const HASHES = { quick: 1, long: 100 }[process.env.ANULO_TESTS ?? ""] ?? 2;

/** Hashes of the readable twin, which takes two seconds for one. */
function createTwin(cache: RandomXCache): (blob: Uint8Array, version: RandomXVersion) => string {
  const { bytes, slot } = createMachine(cache);
  const { pair } = itemFunctions(cache);
  const words = new BigUint64Array(bytes.buffer, slot.items, 8);
  const itemOf = (number: bigint): bigint[] => {
    pair(slot.items, number, number);
    return Array.from(words);
  };
  return (blob, version) => hex(randomxHash(blob, { version, itemOf }));
}

test("the readable twin computes a published hash of each version", () => {
  const { key, input, hashes } = randomxVectors[0]!;
  const twin = createTwin(createRandomXCache(key));
  for (const version of VERSIONS) assert.equal(twin(input, version), hashes[version]);
});

test("random blobs hash as the readable twin has it", () => {
  const key = randomBytes(randomInt(61));
  const cache = createRandomXCache(key);
  const [vm, twin] = [createRandomXVm(cache), createTwin(cache)];
  for (let i = 0; i < HASHES; i++) {
    const blob = randomBytes(randomInt(160));
    const note = `key ${hex(key)}, blob ${hex(blob)}`;
    for (const version of VERSIONS) assert.equal(hex(vm.hash(blob, version)), twin(blob, version), note);
  }
});

// Source: tevador/RandomX, src/tests/benchmark.cpp, whose nonces count up from 0 at byte 39.
const TEMPLATE =
  "0707f7a4f0d605b303260816ba3f10902e1a145ac5fad3aa3af6ea44c11869dc4f853f002b2eea0000000077b206a02ca5b1d4ce6bbfdf0acac38bded34d2dcdeef95cd20cefc12f61d56109";
const SUMS: Readonly<Record<RandomXVersion, string>> = {
  1: "10b649a3f15c7c7f88277812f2e74b337a0f20ce909af09199cccb960771cfa1",
  2: "b85d79e080b10b6ad28c2e6c993601a1361917dba979e03a0a8f7248aaf4ba52",
};
const skip = process.env.ANULO_TESTS !== "long" && "a minute for each version";

for (const version of VERSIONS) {
  test(`1,000 hashes sum up as published, version ${version}`, { skip }, () => {
    useSplitTiering();
    const vm = createRandomXVm(createRandomXCache(new Uint8Array(4)));
    const [blob, sum] = [Buffer.from(TEMPLATE, "hex"), new Uint8Array(32)];
    for (let nonce = 0; nonce < 1000; nonce++) {
      blob.writeUInt32LE(nonce, 39);
      for (const [i, byte] of vm.hash(blob, version).entries()) sum[i]! ^= byte;
    }
    assert.equal(hex(sum), SUMS[version]);
  });
}

test("a commitment is the published one", () => {
  const { input, hashes } = randomxVectors[0]!;
  const published: Readonly<Record<RandomXVersion, string>> = {
    1: "d53ccf348b75291b7be76f0a7ac8208bbced734b912f6fca60539ab6f86be919",
    2: "133be717399046b03ae82ce8ddd9d1ee4d3ea7fca03a50dec09b6848cbb98e18",
  };
  for (const version of VERSIONS) {
    const hash = Buffer.from(hashes[version]!, "hex");
    assert.equal(hex(randomxCommitment(input, hash)), published[version]);
  }
  assert.throws(() => randomxCommitment(input, new Uint8Array(31)), RangeError);
});

test("BLAKE2b without the kernel is another implementation's, at every length around its blocks", () => {
  for (const length of [0, 1, 64, 127, 128, 129, 255, 256, 257, 2176]) {
    const data = Uint8Array.from({ length }, (_, i) => 7 * i);
    for (const dkLen of [1, 32, 64])
      assert.equal(hex(blake2b(data, dkLen)), hex(otherBlake2b(data, { dkLen })));
  }
});
