/** What a peer may answer when it is asked for its chain, and for blocks of it. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { PeerFault } from "@anulo/p2p";
import { type Block, genesisBlock, MAX_BLOCK_NUMBER, networks, toHex, writeBlock } from "@anulo/protocol";
import { readIncomingBlock } from "../src/chain/incoming-block.ts";
import { checkBlocks, checkChain, type KnownBlocks } from "../src/peers/check-answers.ts";
import { MAX_BLOCK_IDS_TAKEN, type PayloadOf } from "../src/peers/messages.ts";
import { heightOfId, idOf } from "./numbered-ids.ts";

/** Blocks of our chain. */
const OWN = 10;
/** Numbers of blocks beside it, of invalid ones, and of those that are on their way. */
const [BESIDE, INVALID, EXPECTED] = [200, 300, 400];

/** What is left of a generator's steps: its result, or the fault it ends with. */
function run<T>(steps: Generator<void, T>): T | string {
  try {
    for (let step = steps.next(); ; step = steps.next()) if (step.done === true) return step.value;
  } catch (error) {
    if (!(error instanceof PeerFault)) throw error;
    return `${error.message} (${error.blame?.score ?? 0})`;
  }
}

function knownBlocks(chain = { height: OWN }): KnownBlocks {
  const isBeside = (id: Uint8Array) => heightOfId(id) >= BESIDE && heightOfId(id) < INVALID;
  const read = {
    height: () => chain.height,
    blockInfo: (height: number) => ({ hash: idOf(height) }),
    heightOf: (id: Uint8Array) => (heightOfId(id) < chain.height ? heightOfId(id) : undefined),
    alternativeBlock: (id: Uint8Array) => (isBeside(id) ? {} : undefined),
  } as unknown as KnownBlocks["read"];
  const [invalid, expected] = [toHex(idOf(INVALID)), toHex(idOf(EXPECTED))];
  return { read, isInvalid: (key) => key === invalid, isExpected: (key) => key === expected };
}

interface Answer {
  readonly start?: number;
  readonly total?: number;
  readonly weights?: readonly number[];
  readonly overlap?: number;
}

/** What becomes of an announced chain of blocks with these numbers. */
function checked(numbers: readonly number[], options: Answer = {}, known = knownBlocks()) {
  const { start = numbers[0] ?? 0, total = start + numbers.length, weights = [], overlap = OWN } = options;
  const answer = {
    start_height: start,
    total_height: total,
    m_block_ids: numbers.map(idOf),
    m_block_weights: weights,
  } as unknown as PayloadOf<"chain">;
  return run(checkChain(known, answer, { overlap }));
}

test("a chain follows a block of ours, and of its blocks those that are here are counted", () => {
  assert.equal(checked([7]), 1);
  assert.equal(checked([7, 8, 9, 50, 51]), 3);
  assert.equal(checked([9, 50, 51]), 1);
  assert.equal(checked([50, 51], { start: 9 }), "a chain that begins nowhere (5)");
  assert.equal(checked([EXPECTED, EXPECTED + 1], { start: 9 }), 0, "its first block is on its way");
  assert.equal(checked([BESIDE, BESIDE + 1, 50], { start: 9 }), 2, "these are beside our chain");
});

test("a chain overlaps with ours, and ends below its height", () => {
  assert.equal(checked([7, 8, 50], { overlap: 8 }), 2);
  assert.equal(checked([7, 8, 50], { overlap: 7 }), "a chain that leaves blocks out (1)");
  assert.equal(checked([]), "a chain without blocks (1)");
  assert.equal(checked([7, 8, 50], { total: 9 }), "a chain higher than its height (1)");
  assert.equal(checked([7, 8, 50], { total: 11 }), 2);
});

test("a chain has a weight for each block, or none", () => {
  assert.equal(checked([7, 8], { weights: [5, 5] }), 2);
  for (const weights of [[5], [5, 5, 5]])
    assert.equal(checked([7, 8], { weights }), "not one weight for each block (1)");
});

test("a chain has as many blocks as an answer may have, below the highest number", () => {
  const numbers = Array.from({ length: MAX_BLOCK_IDS_TAKEN }, (_, i) => (i === 0 ? 9 : 1000 + i));
  assert.equal(checked(numbers), 1);
  assert.equal(checked([...numbers, 999]), "too many blocks (1)");
  assert.equal(checked([7], { total: MAX_BLOCK_NUMBER - 1 }), 1);
  assert.equal(checked([7], { total: MAX_BLOCK_NUMBER }), "too many blocks (1)");
});

test("known blocks are at their heights and below all unknown ones", () => {
  assert.equal(checked([7, 9]), "a block at another height (5)");
  assert.equal(checked([7, 50, 9]), "a known block above unknown ones (5)");
  // A block beside our chain says nothing of those below it.
  assert.equal(checked([7, 50, BESIDE]), 1);
  assert.equal(checked([7, BESIDE, 50]), 2);
});

test("no block is in a chain twice, nor one that was found invalid", () => {
  assert.equal(checked([7, 50, 50]), "a block twice in a chain (5)");
  assert.equal(checked([7, 8, 8]), "a block twice in a chain (5)");
  assert.equal(checked([7, INVALID]), "a chain with an invalid block (1)");
  assert.equal(checked([7, 50, INVALID]), "a chain with an invalid block (1)");
});

// A block that is added meanwhile is above unknown ones, which is nobody's lie.
test("blocks that our chain got during the check count as unknown, and one that lost its top is checked anew", () => {
  const steps = (change: (chain: { height: number }) => void) => {
    const chain = { height: OWN };
    const known = knownBlocks(chain);
    const answer = {
      start_height: 8,
      total_height: 12,
      m_block_ids: [8, 9, 10, 11].map(idOf),
      m_block_weights: [],
    } as unknown as PayloadOf<"chain">;
    const check = checkChain(known, answer, { overlap: OWN });
    for (let i = 0; i < 3; i++) check.next();
    change(chain);
    return run(check);
  };
  assert.equal(
    steps(() => {}),
    2,
  );
  assert.equal(
    steps((chain) => {
      chain.height = 12;
    }),
    2,
  );
  assert.equal(
    steps((chain) => {
      chain.height = 9;
    }),
    1,
  );
});

const genesis = genesisBlock(networks.mainnet);

/** An entry of an answer: a block without transactions, told apart by its nonce. */
function entryOf(nonce: number, change: (block: Block) => Block = (block) => block) {
  const block = writeBlock(change({ ...genesis, header: { ...genesis.header, nonce } }));
  return { pruned: false, block, weight: 0, txs: [] } as PayloadOf<"blocks">["blocks"][number];
}

const keyOf = ({ block }: { readonly block: Uint8Array }) => readIncomingBlock(block).key;

/** What becomes of an answer to a request for the blocks of `asked`: their keys, in order. */
function fetched(blocks: PayloadOf<"blocks">["blocks"], asked = blocks, start = 0) {
  const answer = { blocks } as unknown as PayloadOf<"blocks">;
  const pending = { what: "blocks", at: 0, keys: asked.map(keyOf), start } as const;
  const found = run(checkBlocks(answer, pending));
  return typeof found === "string" ? found : found.map(({ key }) => key);
}

test("blocks are those that were asked for, all of them, in whatever order", () => {
  const [one, two, three] = [entryOf(1), entryOf(2), entryOf(3)];
  assert.deepEqual(fetched([one, two]), [keyOf(one), keyOf(two)]);
  assert.deepEqual(fetched([two, one], [one, two]), [keyOf(one), keyOf(two)]);
  assert.equal(fetched([], [one]), "an answer without blocks (1)");
  assert.equal(fetched([one, two], [one]), "blocks that nobody asked for (1)");
  assert.equal(fetched([three], [one]), "blocks that nobody asked for (1)");
  assert.equal(fetched([one], [one, two]), "not all blocks asked for (0)");
  assert.equal(fetched([one, one], [one, two]), "not all blocks asked for (0)");
});

test("a block says in its miner's transaction no more than the height it was asked for", () => {
  const at = (height: number) =>
    entryOf(1, (block) => {
      const inputs = [{ type: "generation", height }] as typeof block.minerTransaction.prefix.inputs;
      const prefix = { ...block.minerTransaction.prefix, inputs };
      return { ...block, minerTransaction: { ...block.minerTransaction, prefix } };
    });
  for (const height of [4, 5]) assert.equal(fetched([at(height)], [at(height)], 5).length, 1);
  assert.equal(fetched([at(6)], [at(6)], 5), "a block ahead of its height (1)");
});

test("blocks come with all their transactions, whole", () => {
  const one = entryOf(1);
  const some = { blob: new Uint8Array(3), prunableHash: new Uint8Array(32) };
  const holder = entryOf(1, (block) => ({ ...block, transactionHashes: [new Uint8Array(32).fill(3)] }));
  assert.equal(fetched([{ ...one, txs: [some] }], [one]), "a block without all it holds (1)");
  assert.equal(fetched([holder]), "a block without all it holds (1)");
  assert.deepEqual(fetched([{ ...holder, txs: [some] }], [holder]), [keyOf(holder)]);
  const isPruned = "pruned data that nobody asked for (1)";
  assert.equal(fetched([{ ...one, pruned: true }], [one]), isPruned);
  assert.equal(fetched([{ ...one, weight: 80 }], [one]), isPruned);
  const part = { ...some, prunableHash: new Uint8Array(32).fill(1) };
  assert.equal(fetched([{ ...holder, txs: [part] }], [holder]), isPruned);
  const none = { ...one, block: new Uint8Array(40) };
  assert.match(String(fetched([none], [one])), /no block: .*\(1\)/);
});
