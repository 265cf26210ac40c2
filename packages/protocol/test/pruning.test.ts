import assert from "node:assert/strict";
import { test } from "node:test";
import {
  isPruningSeed,
  keepsWholeBlock,
  logStripesOfSeed,
  nextPrunedBlock,
  nextWholeBlock,
  PRUNING_LOG_STRIPES,
  PRUNING_STRIPE_BLOCKS,
  PRUNING_TIP_BLOCKS,
  pruningSeed,
  stripeOfBlock,
  stripeOfSeed,
} from "../src/pruning.ts";

test("a seed names its stripe and the number of stripes", () => {
  assert.deepEqual(
    [1, 2, 8].map((stripe) => pruningSeed(stripe)),
    [0x180, 0x181, 0x187],
  );
  for (let stripe = 1; stripe <= 8; stripe++) {
    const seed = pruningSeed(stripe);
    assert.equal(stripeOfSeed(seed), stripe);
    assert.equal(logStripesOfSeed(seed), 3);
    assert.ok(isPruningSeed(seed));
  }
  assert.equal(stripeOfSeed(0), 0);
  assert.ok(isPruningSeed(0));
  for (const wrong of [1, 0x100, 0x188, 0x1ff, 0x200]) assert.ok(!isPruningSeed(wrong));
  assert.throws(() => pruningSeed(0), RangeError);
  assert.throws(() => pruningSeed(9), RangeError);
  assert.throws(() => pruningSeed(1, 8), RangeError);
});

test("the stripes are those of the original, and of any power of two up to 2^7", () => {
  assert.deepEqual([PRUNING_STRIPE_BLOCKS, PRUNING_LOG_STRIPES, PRUNING_TIP_BLOCKS], [4096, 3, 5500]);
  assert.equal(pruningSeed(1, 0), 0);
  assert.equal(pruningSeed(2, 1), 0x81);
  assert.equal(pruningSeed(128, 7), 0x3ff);
  assert.deepEqual([stripeOfSeed(0x3ff), logStripesOfSeed(0x3ff)], [128, 7]);
  for (const [stripe, logStripes] of [
    [2, 0],
    [1, -1],
    [1, 1.5],
    [129, 7],
    [1.5, 3],
    [-1, 3],
  ] as const)
    assert.throws(() => pruningSeed(stripe, logStripes), RangeError);
});

test("the newest blocks belong to no stripe, the others to stripes in turn", () => {
  const chainHeight = 100_000;
  assert.equal(stripeOfBlock(chainHeight - PRUNING_TIP_BLOCKS, chainHeight), 0);
  assert.notEqual(stripeOfBlock(chainHeight - PRUNING_TIP_BLOCKS - 1, chainHeight), 0);
  assert.equal(stripeOfBlock(0, chainHeight), 1);
  assert.equal(stripeOfBlock(PRUNING_STRIPE_BLOCKS, chainHeight), 2);
  assert.equal(stripeOfBlock(8 * PRUNING_STRIPE_BLOCKS, chainHeight), 1);
});

test("every old block is whole on exactly one of eight nodes, a new one on all", () => {
  const chainHeight = 60_000;
  const seeds = [1, 2, 3, 4, 5, 6, 7, 8].map((stripe) => pruningSeed(stripe));
  for (let height = 0; height < chainHeight; height += 997) {
    const keepers = seeds.filter((seed) => keepsWholeBlock(height, chainHeight, seed)).length;
    assert.equal(keepers, height + PRUNING_TIP_BLOCKS >= chainHeight ? 8 : 1, String(height));
    assert.ok(keepsWholeBlock(height, chainHeight, 0));
  }
});

test("the next whole and the next pruned block are what a search finds", () => {
  const chainHeight = 50_123;
  for (const seed of [0, ...[1, 2, 5, 8].map((stripe) => pruningSeed(stripe))]) {
    for (let from = 0; from < chainHeight; from += 1361) {
      let whole = from;
      while (!keepsWholeBlock(whole, chainHeight, seed)) whole++;
      assert.equal(nextWholeBlock(from, chainHeight, seed), whole, `whole from ${from} of ${seed}`);
      let pruned = from;
      while (pruned < chainHeight && keepsWholeBlock(pruned, chainHeight, seed)) pruned++;
      const answer = nextPrunedBlock(from, chainHeight, seed);
      if (pruned < chainHeight) assert.equal(answer, pruned, `pruned from ${from} of ${seed}`);
      else assert.ok(answer >= chainHeight - PRUNING_TIP_BLOCKS);
    }
  }
  assert.equal(nextPrunedBlock(3, 100, pruningSeed(1)), 100);
  const tip = chainHeight - PRUNING_TIP_BLOCKS;
  for (const seed of [pruningSeed(1), pruningSeed(2)]) {
    assert.equal(nextPrunedBlock(tip, chainHeight, seed), chainHeight, "the newest are pruned by none");
    assert.equal(nextWholeBlock(tip, chainHeight, seed), tip);
  }
  // That block is of stripe 3.
  assert.equal(nextPrunedBlock(tip - 1, chainHeight, pruningSeed(2)), tip - 1);
  assert.equal(nextWholeBlock(tip - 1, chainHeight, pruningSeed(2)), tip);
});
