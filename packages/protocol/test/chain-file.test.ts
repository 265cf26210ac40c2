import assert from "node:assert/strict";
import { test } from "node:test";
import {
  BadBytes,
  CHAIN_FILE_HEADER_BYTES,
  fromHex,
  MAX_CHUNK_BYTES,
  readBlockPackage,
  readChainFileHeader,
  readPackagedBlock,
  toHex,
  writeBlockPackage,
  writeChainFileHeader,
} from "../src/index.ts";
import { recordedChain } from "./fixtures.ts";

const { block, transactions } = recordedChain.blocks.find((each) => each.transactions.length > 1)!;
const packaged = {
  blob: fromHex(block),
  transactions: transactions.map((hex) => fromHex(hex)),
  weight: 3000,
  cumulativeDifficulty: (7n << 64n) + 5n,
  generated: 2n ** 64n - 1n,
};

test("a header has the bytes that the original's exporter writes, and is read back", () => {
  const bytes = writeChainFileHeader({ first: 5, last: 300 });
  assert.equal(bytes.length, CHAIN_FILE_HEADER_BYTES);
  assert.equal(CHAIN_FILE_HEADER_BYTES, 1028);
  assert.equal(MAX_CHUNK_BYTES, 2_097_152);
  // Magic, then two parts behind their lengths: version 1.0 and 1024 bytes; blocks 5 to 300, and 0.
  assert.equal(toHex(bytes.subarray(0, 20)), `86157228${"04000000"}${"01008008"}${"04000000"}${"05ac0200"}`);
  assert.ok(bytes.subarray(20).every((byte) => byte === 0));
  assert.deepEqual(readChainFileHeader(bytes), { version: 1, first: 5, last: 300 });
});

test("a header of version 0 is read, and any other refused", () => {
  const changed = (at: number, value: number) => {
    const bytes = writeChainFileHeader({ first: 5, last: 300 });
    bytes[at] = value;
    return () => readChainFileHeader(bytes);
  };
  assert.equal(changed(8, 0)().version, 0);
  assert.equal(changed(9, 77)().version, 1);
  assert.throws(changed(8, 2), /version 2 of the format is not known/);
  assert.throws(changed(0, 0x87), /does not begin as a blockchain.raw does/);
  assert.throws(changed(10, 0x81), /a header of 1025 bytes/);
  assert.throws(changed(4, 31), /a part of the header has 31 bytes/);
  const long = changed(4, 30);
  assert.throws(long, BadBytes);
  assert.doesNotMatch(String(errorOf(long)), /a part of the header/);
  assert.throws(() => readChainFileHeader(new Uint8Array(3)), BadBytes);
});

function errorOf(run: () => unknown): unknown {
  try {
    run();
  } catch (error) {
    return error;
  }
  return undefined;
}

test("a block with its transactions and totals goes into a chunk and comes back", () => {
  const chunk = writeBlockPackage(packaged);
  assert.deepEqual(readBlockPackage(chunk, 1), packaged);
  assert.deepEqual(readPackagedBlock(chunk), packaged.blob);
  const small = { ...packaged, transactions: [], cumulativeDifficulty: 5n, generated: 0n };
  assert.deepEqual(readBlockPackage(writeBlockPackage(small), 1), small);
});

test("difficulties of version 0 have no upper half", () => {
  const chunk = writeBlockPackage({ ...packaged, transactions: [], cumulativeDifficulty: 5n });
  const at = packaged.blob.length + 1 + 2;
  assert.equal(chunk[at], 0, "the upper half");
  const old = Uint8Array.from([...chunk.subarray(0, at), ...chunk.subarray(at + 1)]);
  assert.equal(readBlockPackage(old, 0).cumulativeDifficulty, 5n);
  assert.throws(() => readBlockPackage(chunk, 0), BadBytes);
  assert.throws(() => readBlockPackage(old, 1), BadBytes);
});

test("a chunk with a byte too many or too few, or an impossible count, is refused", () => {
  const chunk = writeBlockPackage(packaged);
  assert.throws(() => readBlockPackage(Uint8Array.from([...chunk, 0]), 1), /1 bytes left over/);
  for (let length = 0; length < chunk.length; length += 1 + (length >> 3))
    assert.throws(() => readBlockPackage(chunk.subarray(0, length), 1), BadBytes);
  const absurd = Uint8Array.from([...packaged.blob, 0xff, 0xff, 0xff, 0x7f, 0]);
  assert.throws(() => readBlockPackage(absurd, 1), /count 268435455 above the bytes left/);
});
