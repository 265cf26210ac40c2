/** What the rules see of a branch beside the main chain. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { genesisBlock, networks, writeBlock } from "@anulo/protocol";
import { type BranchBlock, branchView, findBranch } from "../src/chain/branch.ts";
import type { ChainStateOptions } from "../src/chain/chain-state.ts";
import { heightOfId, idOf } from "./numbered-ids.ts";

const MAIN_HEIGHT = 9;
/** Numbers of blocks beside the chain begin there, so that their ids are others. */
const BESIDE = 100;

/** A block whose fields are told apart by its number. */
function blockOf(number: number, height: number): BranchBlock {
  return {
    hash: idOf(number),
    height,
    timestamp: 1000 + number,
    cumulativeDifficulty: BigInt(2000 + number),
    alreadyGenerated: BigInt(3000 + number),
    weight: 4000 + number,
  };
}

/** Reads a main chain of nine blocks. */
const read = {
  height: () => MAIN_HEIGHT,
  blockInfo: (height: number) => (height < MAIN_HEIGHT ? blockOf(height, height) : undefined),
  blockInfos: (from: number, to: number) =>
    Array.from({ length: Math.max(0, to - Math.max(0, from)) }, (_, i) => {
      const height = Math.max(0, from) + i;
      return blockOf(height, height);
    }),
};

/** A branch of some blocks on the main chain's block at a height. */
function branchAt(forkHeight: number, length: number) {
  const network = {
    ...networks.regtest,
    hardForks: [1, 7, 8].map((height) => ({ version: height, height, time: 0 })),
  };
  const options = { read, network, fixedDifficulty: 7n, now: 77 } as unknown as ChainStateOptions & {
    now: number;
  };
  const blocks = Array.from({ length }, (_, i) => blockOf(BESIDE + i, forkHeight + 1 + i));
  return branchView(options, { forkHeight, blocks });
}

test("a branch goes on from its newest block, under the rules of its own height", () => {
  const { view, ...rest } = branchAt(4, 2);
  assert.deepEqual(rest, { length: 2, mainHeight: MAIN_HEIGHT, now: 77 });
  assert.deepEqual([view.height, view.hardForkVersion, view.fixedDifficulty], [7, 7, 7n]);
  assert.deepEqual(view.topId, idOf(BESIDE + 1));
  assert.deepEqual([view.cumulativeDifficulty, view.alreadyGenerated], [2101n, 3101n]);
  assert.equal(branchAt(4, 3).view.hardForkVersion, 8);
  assert.equal(branchAt(4, 1).view.hardForkVersion, 1);
});

test("a branch without blocks goes on from the block it stands on", () => {
  const { view, length } = branchAt(4, 0);
  assert.deepEqual([view.height, length], [5, 0]);
  assert.deepEqual(view.topId, idOf(4));
  assert.deepEqual([view.cumulativeDifficulty, view.alreadyGenerated], [2004n, 3004n]);
  assert.deepEqual(view.recentTimestamps(2), [1003, 1004]);
});

test("the newest blocks are those of the branch, and below them those it stands on", () => {
  const { view } = branchAt(4, 2);
  const numbers = [0, 1, 2, 3, 4, BESIDE, BESIDE + 1];
  for (let count = 0; count <= 9; count++) {
    const expected = count === 0 ? [] : numbers.slice(-count);
    const told = (offset: number) => expected.map((number) => offset + number);
    assert.deepEqual(view.recentTimestamps(count), told(1000));
    assert.deepEqual(view.recentCumulativeDifficulties(count), told(2000).map(BigInt));
    assert.deepEqual(view.recentWeights(count), told(4000));
  }
});

test("blocks of a branch are found above the block it stands on, others on the main chain", () => {
  const { view } = branchAt(4, 2);
  const expected = [3, 4, BESIDE, BESIDE + 1].map(idOf);
  assert.deepEqual([3, 4, 5, 6].map(view.blockId), expected);
});

test("a branch stands on a block of the main chain", () => {
  assert.throws(() => branchAt(MAIN_HEIGHT, 1), RangeError);
  assert.equal(branchAt(MAIN_HEIGHT - 1, 1).view.height, MAIN_HEIGHT + 1);
});

test("the blocks below a block are found down to the main chain, oldest first", () => {
  const genesis = genesisBlock(networks.mainnet);
  const parents = new Map([
    [BESIDE, 4],
    [BESIDE + 1, BESIDE],
    // Its parent is nowhere.
    [BESIDE + 7, BESIDE + 6],
  ]);
  const reader = {
    heightOf: (id: Uint8Array) => (heightOfId(id) < MAIN_HEIGHT ? heightOfId(id) : undefined),
    alternativeBlock(id: Uint8Array) {
      const parent = parents.get(heightOfId(id));
      if (parent === undefined) return undefined;
      const header = { ...genesis.header, previousId: idOf(parent), timestamp: heightOfId(id) };
      return { ...blockOf(heightOfId(id), 5), blob: writeBlock({ ...genesis, header }) };
    },
  } as unknown as Parameters<typeof findBranch>[0];
  const found = (number: number) => {
    const branch = findBranch(reader, idOf(number));
    return branch && [branch.forkHeight, ...branch.blocks.map(({ hash }) => heightOfId(hash))];
  };
  assert.deepEqual(found(BESIDE + 1), [4, BESIDE, BESIDE + 1]);
  assert.deepEqual(found(3), [3]);
  assert.deepEqual([found(BESIDE + 7), found(BESIDE + 50)], [undefined, undefined]);
});
