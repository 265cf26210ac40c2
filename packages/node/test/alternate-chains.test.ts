/** How the chains beside the main one are listed. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { genesisBlock, networks, toHex, writeBlock } from "@anulo/protocol";
import type { ChainReader } from "@anulo/storage";
import { alternateChains } from "../src/rpc/alternate-chains.ts";
import { heightOfId, idOf } from "./numbered-ids.ts";

const MAIN_HEIGHT = 9;
const genesis = genesisBlock(networks.mainnet);

interface Beside {
  readonly number: number;
  readonly parent: number;
  readonly difficulty: bigint;
}

/** Reads a main chain of nine blocks, and others beside it. */
function readerOf(blocks: readonly Beside[]): ChainReader {
  const rows = blocks.map(({ number, parent, difficulty }) => ({
    hash: idOf(number),
    height: 7,
    cumulativeDifficulty: difficulty,
    blob: writeBlock({ ...genesis, header: { ...genesis.header, previousId: idOf(parent) } }),
  }));
  return {
    alternativeBlocks: () => rows,
    alternativeBlock: (id: Uint8Array) => rows.find(({ hash }) => toHex(hash) === toHex(id)),
    heightOf: (id: Uint8Array) => (heightOfId(id) < MAIN_HEIGHT ? heightOfId(id) : undefined),
    blockField: (height: number) => idOf(height),
  } as unknown as ChainReader;
}

test("chains are listed by their work, the greatest first, then by the greater id", () => {
  const beside: Beside[] = [
    { number: 101, parent: 4, difficulty: 5n },
    { number: 102, parent: 4, difficulty: 7n },
    { number: 103, parent: 4, difficulty: 2n ** 64n },
    { number: 104, parent: 101, difficulty: 7n },
    { number: 105, parent: 3, difficulty: 6n },
    // Its parent is nowhere.
    { number: 106, parent: 200, difficulty: 9n },
  ];
  for (const blocks of [beside, beside.toReversed(), [...beside.slice(3), ...beside.slice(0, 3)]]) {
    const chains = alternateChains(readerOf(blocks), "upstream");
    assert.deepEqual(
      chains.map(({ block_hash }) => block_hash),
      [103, 104, 102, 105].map((number) => toHex(idOf(number))),
    );
    assert.deepEqual(
      chains.map(({ length, main_chain_parent_block }) => [length, main_chain_parent_block]),
      [4, 4, 4, 3].map((parent, i) => [i === 1 ? 2 : 1, toHex(idOf(parent))]),
    );
  }
});

test("a chain is named by its newest block, in the contract by its oldest", () => {
  const beside = [
    { number: 101, parent: 4, difficulty: 5n },
    { number: 104, parent: 101, difficulty: 7n },
  ];
  const named = (dialect: "contract" | "upstream") =>
    alternateChains(readerOf(beside), dialect)[0]!.block_hash;
  assert.deepEqual(
    [named("upstream"), named("contract")],
    [104, 101].map((number) => toHex(idOf(number))),
  );
});
