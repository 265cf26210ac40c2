import assert from "node:assert/strict";
import { test } from "node:test";
import { BadBytes, decode, encode, reserveProofCodec } from "../src/index.ts";

const part = (byte: number, length = 32) => new Uint8Array(length).fill(byte);
const entry = {
  version: 0,
  txHash: part(1),
  outputIndex: 5,
  sharedSecret: part(2),
  keyImage: part(3),
  sharedSecretProof: part(4, 64),
  keyImageProof: part(5, 64),
};
const spendKey = { pairSize: 2, key: part(6), signature: part(7, 64) };

test("a proof of funds is its outputs, 226 bytes each, and its spend keys, 97 bytes each", () => {
  const proof = { entries: [entry, entry], spendKeys: [spendKey] };
  const bytes = encode(reserveProofCodec, proof);
  assert.equal(bytes.length, 1 + 2 * 226 + 1 + 97);
  assert.deepEqual(decode(reserveProofCodec, bytes), proof);
  const first = bytes.subarray(1, 227);
  const parts = [[0], part(1), [5], part(2), part(3), part(4, 64), part(5, 64)];
  assert.deepEqual(first, Uint8Array.from(parts.flatMap((each) => [...each])));
});

test("a proof of funds of another version, or with a pair of three, is none", () => {
  const encoded = (entries: readonly (typeof entry)[], spendKeys: readonly (typeof spendKey)[]) =>
    encode(reserveProofCodec, { entries, spendKeys });
  const ofOne = encoded([entry], [spendKey]);
  for (const at of [1, 1 + 226 + 1]) {
    const changed = ofOne.slice();
    changed[at]! += 1;
    assert.throws(() => decode(reserveProofCodec, changed), BadBytes, String(at));
  }
  assert.throws(() => decode(reserveProofCodec, ofOne.subarray(0, -1)), BadBytes);
});
