import { type Block, writeBlock, writeTransaction } from "@anulo/protocol";
import type { TransactionCandidate } from "../src/index.ts";
import type { Bench, Case, ChainSpend } from "./bench.ts";
import { type Coin, candidate, createForge } from "./forge.ts";
import { mutatedBlocks } from "./mutated-blocks.ts";
import { mutatedTransactions } from "./mutated-transactions.ts";

/** A chain of our own and what to try on top of it; the same every time. */
export interface Laboratory {
  blocks: { block: Uint8Array; transactions: Uint8Array[] }[];
  /** A transaction to put into the pool before the cases. */
  poolTransaction: Uint8Array;
  transactions: Case[];
  blockCases: Case[];
}

const BLOCKS = 90;
/** Height of the block with a transaction whose outputs are old enough to spend at the end. */
const OLD_SPEND = 78;
/** Height of a later one, whose outputs are not. */
const YOUNG_SPEND = 86;

export function createLaboratory(): Laboratory {
  const forge = createForge("laboratory");
  const blocks: Laboratory["blocks"] = [];
  const coins: Coin[] = [];
  const mine = (spent: TransactionCandidate[] = []) => {
    const block: Block = forge.block(spent);
    const transactions = spent.map(({ transaction }) => writeTransaction(transaction));
    blocks.push({ block: writeBlock(block), transactions });
    coins.push(forge.append(block, spent));
  };
  const mineSpending = (coin: Coin): ChainSpend => {
    const spend = candidate(forge.spend({ inputs: [{ coin }] }));
    mine([spend]);
    return { candidate: spend, firstOutput: coins.at(-1)!.globalIndex + 1n };
  };
  while (blocks.length < OLD_SPEND - 1) mine();
  const oldSpend = mineSpending(coins[0]!);
  while (blocks.length < YOUNG_SPEND - 1) mine();
  const youngSpend = mineSpending(coins[1]!);
  while (blocks.length < BLOCKS) mine();
  const bench: Bench = { forge, coins, oldSpend, youngSpend, height: BLOCKS + 1 };
  return {
    blocks,
    poolTransaction: writeTransaction(forge.spend({ inputs: [{ coin: coins[2]! }] })),
    transactions: mutatedTransactions(bench),
    blockCases: mutatedBlocks(bench),
  };
}
