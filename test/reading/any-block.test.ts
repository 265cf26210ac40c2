import assert from "node:assert/strict";
import { test } from "node:test";
import { keccak256 } from "@anulo/crypto";
import {
  BadBytes,
  blockId,
  prunableHash,
  readBlock,
  readIdentifiedBlock,
  readTransactionPrefix,
  type Transaction,
  transactionHash,
  transactionPrefixHash,
  writeBlock,
  writePrunedTransaction,
  writeTransaction,
} from "@anulo/protocol";
import { anyBlock, createChance } from "./any-block.ts";

const chance = createChance("any block");
const blocks = Array.from({ length: 400 }, () => anyBlock(chance));

test("any block of the format is written and read as the same value and the same bytes", () => {
  for (const block of blocks) {
    const bytes = writeBlock(block);
    const read = readBlock(bytes);
    assert.deepEqual(plain(read), plain(block));
    assert.deepEqual(writeBlock(read), bytes);
    const { id, minerTransactionHash } = readIdentifiedBlock(bytes);
    assert.deepEqual(id, blockId(block));
    assert.deepEqual(minerTransactionHash, transactionHash(block.minerTransaction));
  }
});

/** Bytes as hexadecimal, so that a Buffer and an array of the same bytes are alike. */
function plain(value: unknown): string {
  return JSON.stringify(value, (_, part) => {
    if (part instanceof Uint8Array) return Buffer.from(part).toString("hex");
    return typeof part === "bigint" ? String(part) : part;
  });
}

test("any transaction is its pruned bytes and the rest, and hashes by those parts", () => {
  for (const { minerTransaction: tx } of blocks) {
    const whole = writeTransaction(tx);
    const pruned = writePrunedTransaction(tx);
    assert.deepEqual(whole.subarray(0, pruned.length), pruned);
    assert.deepEqual(readTransactionPrefix(pruned), tx.prefix);
    assert.deepEqual(transactionHash(tx), hashOfParts(tx, { whole, pruned }));
  }
});

/** The id by the definition: of all bytes, or of the hashes of three parts. */
function hashOfParts(tx: Transaction, { whole, pruned }: { whole: Uint8Array; pruned: Uint8Array }) {
  const { ringct } = tx;
  if (ringct === undefined) return keccak256(whole);
  const rest = whole.subarray(pruned.length);
  const base = pruned.subarray(prefixLength(tx));
  const last = ringct.type === 0 ? new Uint8Array(32) : keccak256(rest);
  if (ringct.type !== 0) assert.deepEqual(prunableHash(tx), last);
  return keccak256(transactionPrefixHash(tx), keccak256(base), last);
}

/** Of a version 2 transaction: without RingCT there is one byte after the prefix. */
function prefixLength(tx: Transaction): number {
  return writeTransaction({ ...tx, signatures: [], ringct: { type: 0 } }).length - 1;
}

test("any block that ends too early, or too late, is refused", () => {
  for (const block of blocks.slice(0, 60)) {
    const bytes = writeBlock(block);
    assert.throws(() => readBlock(Buffer.concat([bytes, Buffer.alloc(1)])), BadBytes);
    const isListed = block.transactionHashes.length > 0;
    for (let length = bytes.length - (isListed ? 31 : 40); length < bytes.length - 1; length++) {
      if (length > 0) assert.throws(() => readBlock(bytes.subarray(0, length)), BadBytes);
    }
  }
});
