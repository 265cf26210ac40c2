/** Blocks that are judged but not written answer as if they were, until the store has them. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { ChainOutput } from "@anulo/consensus";
import { toHex } from "@anulo/protocol";
import type { NewBlock } from "@anulo/storage";
import type { StateReader } from "../src/chain/chain-state.ts";
import { createPendingBlocks } from "../src/chain/pending-blocks.ts";

const id = (fill: number) => new Uint8Array(32).fill(fill);

/** A block of this hash with a transaction that spends, and pays one output of each amount. */
function block(hash: number, spent: number, ...amounts: bigint[]): NewBlock {
  const outputs = amounts.map((amount) => ({ amount, key: id(hash + 1), commitment: id(hash + 2) }));
  const transaction = { hash: id(hash + 3), keyImages: [id(spent)], outputs, unlockTime: BigInt(hash) };
  return { hash: id(hash), longTermWeight: hash * 10, transactions: [transaction] } as unknown as NewBlock;
}

const output = (hash: number, height: number): ChainOutput => ({
  key: id(hash + 1),
  commitment: id(hash + 2),
  unlockTime: BigInt(hash),
  height,
});

/** A store of these blocks, whose list may grow. */
function storeOf(blocks: readonly NewBlock[]): StateReader {
  const transactions = () => blocks.flatMap((each) => each.transactions);
  const outputsOf = (amount: bigint) =>
    blocks.flatMap((each, height) =>
      each.transactions.flatMap((tx) =>
        tx.outputs
          .filter((own) => own.amount === amount)
          .map(({ key, commitment }) => ({ key, commitment, unlockTime: tx.unlockTime, height })),
      ),
    );
  return {
    height: () => blocks.length,
    blockInfo: (height) => blocks[height],
    blockInfos: (from, to) => blocks.slice(from, to),
    blockInfoColumn: (field, from, to) => blocks.slice(from, to).map((each) => each[field]),
    transaction: (hash) => transactions().find((tx) => toHex(tx.hash) === toHex(hash)),
    isKeyImageSpent: (image) =>
      transactions().some(({ keyImages }) => keyImages.some((each) => toHex(each) === toHex(image))),
    outputCount: (amount) => outputsOf(amount).length,
    output: (amount, index) => outputsOf(amount)[index],
  };
}

/** All that a reader says of the heights below 6 and of these transactions, key images and outputs. */
function answers(read: StateReader) {
  const heights = [0, 1, 2, 3, 4, 5];
  const ids = Array.from({ length: 80 }, (_, fill) => id(fill));
  const ranges = heights.flatMap((from) => heights.map((to) => [from, to] as const));
  return {
    height: read.height(),
    infos: heights.map((height) => read.blockInfo(height)?.hash),
    ranges: ranges.map(([from, to]) => read.blockInfos(from, to).map(({ hash }) => hash[0])),
    weights: ranges.map(([from, to]) => [...read.blockInfoColumn("longTermWeight", from, to)]),
    known: ids.filter((each) => read.transaction(each) !== undefined).map((each) => each[0]),
    spent: ids.filter((each) => read.isKeyImageSpent(each)).map((each) => each[0]),
    counts: [0n, 5n, 7n].map((amount) => read.outputCount(amount)),
    outputs: [0n, 5n, 7n].map((amount) => heights.map((index) => read.output(amount, index))),
  };
}

const chain = [block(10, 11, 0n, 5n), block(20, 21, 0n), block(30, 31, 5n, 0n, 5n), block(40, 41, 0n, 7n)];

test("a reader of pending blocks says what a store says that has them", () => {
  const written = chain.slice(0, 1);
  const pending = createPendingBlocks(storeOf(written));
  assert.deepEqual(answers(pending.read), answers(storeOf(chain.slice(0, 1))));
  for (let height = 1; height < chain.length; height++) {
    pending.push(chain[height]!);
    assert.deepEqual(answers(pending.read), answers(storeOf(chain.slice(0, height + 1))), `of ${height}`);
    assert.equal(pending.size, height);
  }
  assert.deepEqual(pending.read.output(5n, 1), output(30, 2));
  assert.deepEqual(pending.read.output(0n, 3), output(40, 3));
  // As the store gets them, nothing of what is said changes.
  for (let height = 1; height < chain.length; height++) {
    written.push(chain[height]!);
    pending.shift();
    assert.deepEqual(answers(pending.read), answers(storeOf(chain)), `once ${height} is written`);
    assert.equal(pending.size, chain.length - 1 - height);
  }
  pending.shift();
  assert.equal(pending.size, 0);
  // What the store loses, nobody remembers.
  written.splice(1);
  assert.deepEqual(answers(pending.read), answers(storeOf(chain.slice(0, 1))));
});
