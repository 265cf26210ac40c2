import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { PRUNING_STRIPE_BLOCKS, PRUNING_TIP_BLOCKS, pruningSeed } from "@anulo/protocol";
import type { ChainStore } from "../src/chain-store.ts";
import { openStore } from "../src/open-store.ts";
import { isPrunedCorrectly } from "../src/prune.ts";
import { sampleBlock, sampleFacts } from "./sample-blocks.ts";

/** The first stripe, a part of the second, and the newest blocks. */
const OLD_BLOCKS = PRUNING_STRIPE_BLOCKS + 300;
const BLOCKS = OLD_BLOCKS + PRUNING_TIP_BLOCKS;

const folder = mkdtempSync(join(tmpdir(), "anulo-prune-"));
const path = join(folder, "chain.mdb");
let store: ChainStore;

before(async () => {
  store = await openStore({ path, network: "regtest" });
  for (let from = 0; from < BLOCKS; from += 500) {
    store.write((writer) => {
      for (let height = from; height < Math.min(BLOCKS, from + 500); height++) {
        writer.appendBlock(sampleBlock(height));
      }
    });
  }
});
after(async () => {
  await store.close();
  rmSync(folder, { recursive: true, force: true });
});

const firstOf = (height: number) => store.read.blockInfo(height)!.firstTransactionId;
/** Which of a block's three transactions are whole; the last is of version 1. */
const wholeOf = (height: number) =>
  [0, 1, 2].map((i) => store.read.prunablePart(firstOf(height) + i) !== undefined);

test("a database that is not pruned has all and takes no transaction without its prunable part", () => {
  assert.equal(store.read.pruningSeed(), 0);
  assert.equal(store.write((writer) => writer.pruneOn(10)).dropped, 0);
  assert.ok(isPrunedCorrectly(store.read, 0));
  assert.ok(!isPrunedCorrectly(store.read, BLOCKS), "there is no such block");
  const block = sampleBlock(BLOCKS);
  const transactions = block.transactions.map((tx) => ({ ...tx, prunable: undefined }));
  assert.throws(() => store.write((writer) => writer.appendBlock({ ...block, transactions })), RangeError);
  assert.equal(store.read.height(), BLOCKS);
});

test("pruning goes on where it was interrupted and spares stripe, tip and version 1", async () => {
  const seed = pruningSeed(2);
  for (const none of [0, 77])
    assert.throws(() => store.write((writer) => writer.startPruning(none)), RangeError);
  assert.equal(store.read.pruningSeed(), 0);
  store.write((writer) => writer.startPruning(seed));
  const first = store.write((writer) => writer.pruneOn(1000));
  assert.ok(first.dropped >= 1000 && first.dropped < 1010);
  assert.ok(first.height < first.end && first.end === OLD_BLOCKS);
  await store.close();
  store = await openStore({ path, network: "regtest" });
  assert.equal(store.read.pruningSeed(), seed);
  assert.equal(store.read.prunedHeight(), first.height);
  let step = first;
  while (step.height < step.end) step = store.write((writer) => writer.pruneOn(5000));
  for (const height of [0, 1, 2000, PRUNING_STRIPE_BLOCKS - 1]) {
    assert.deepEqual(wholeOf(height), [false, false, true], `block ${height}`);
  }
  for (const height of [PRUNING_STRIPE_BLOCKS, OLD_BLOCKS - 1, OLD_BLOCKS, BLOCKS - 1]) {
    assert.deepEqual(wholeOf(height), [true, true, true], `block ${height}`);
  }
  for (let height = 0; height < BLOCKS; height += 7) assert.ok(isPrunedCorrectly(store.read, height));
});

test("another seed is refused, the same one is no news", () => {
  assert.throws(() => store.write((writer) => writer.startPruning(pruningSeed(3))), RangeError);
  store.write((writer) => writer.startPruning(pruningSeed(2)));
  assert.equal(store.read.prunedHeight(), OLD_BLOCKS);
});

test("blocks grow old as the chain grows, and may arrive without their prunable parts", () => {
  const block = sampleBlock(BLOCKS);
  const transactions = block.transactions.map((tx) => ({ ...tx, prunable: undefined }));
  store.write((writer) => writer.appendBlock({ ...block, transactions }));
  const step = store.write((writer) => writer.pruneOn(1000));
  assert.deepEqual(step, { height: OLD_BLOCKS + 1, end: OLD_BLOCKS + 1, dropped: 0 });
  assert.ok(!isPrunedCorrectly(store.read, BLOCKS), "the newest blocks are to be whole");
  const removed = store.write((writer) => writer.popBlock(sampleFacts));
  assert.deepEqual(
    removed?.transactions.map(({ prunable }) => prunable),
    [undefined, undefined, undefined],
  );
});
