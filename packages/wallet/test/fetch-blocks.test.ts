import assert from "node:assert/strict";
import { test } from "node:test";
import { type Batch, piecesOf } from "../src/scan/fetch-blocks.ts";

/** Consecutive blocks, each with so many transactions besides its coinbase. */
function batchOf(counts: readonly number[]): Batch {
  const blocks = counts.map((count, height) => ({ height, transactionHashes: Array(count) }));
  return { blocks, skipped: 1 } as unknown as Batch;
}

const lengthsOf = (counts: readonly number[]): number[] =>
  piecesOf(batchOf(counts)).map(({ blocks }) => blocks.length);

test("a change has at most 500 blocks, and ends with the block that makes it 1,000 transactions", () => {
  assert.deepEqual(lengthsOf(Array(1100).fill(0)), [500, 500, 100]);
  assert.deepEqual(lengthsOf(Array(500).fill(0)), [500]);
  assert.deepEqual(lengthsOf(Array(600).fill(3)), [250, 250, 100]);
  assert.deepEqual(lengthsOf([5000, 0, 998, 0, 7]), [1, 2, 2]);
  assert.deepEqual(lengthsOf([]), []);
});

test("the pieces of a response follow one another", () => {
  const pieces = piecesOf(batchOf(Array(1100).fill(1)));
  assert.deepEqual(
    pieces.map(({ skipped }) => skipped),
    [1, 501, 1001],
  );
  assert.deepEqual(
    pieces.flatMap(({ blocks }) => blocks.map(({ height }) => height)),
    Array.from({ length: 1100 }, (_, height) => height),
  );
});
