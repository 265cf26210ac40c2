import { readFileSync } from "node:fs";
import { gunzipSync } from "node:zlib";
import {
  type Block,
  fromHex,
  readBlock,
  readTransaction,
  transactionHash,
  transactionWeight,
} from "@anulo/protocol";
import type { TransactionCandidate } from "../src/index.ts";

/** A recorded block and what the real program says of it. */
export interface RecordedBlock {
  id: string;
  block: Block;
  transactions: TransactionCandidate[];
  weight: number;
  longTermWeight: number;
  claimed: bigint;
  fees: bigint;
  cumulativeDifficulty: bigint;
}

interface Recording {
  blocks: {
    id: string;
    block: string;
    transactions: string[];
    facts: [weight: number, longTermWeight: number, claimed: number, fees: number, cumulative: number];
  }[];
}

/** A transaction as the rules take it, from its bytes. Throws `BadBytes`. */
export function candidateOf(blob: Uint8Array): TransactionCandidate {
  const transaction = readTransaction(blob);
  return {
    transaction,
    id: transactionHash(transaction),
    weight: transactionWeight(transaction, blob.length),
  };
}

/** 500 regtest blocks with 402 transactions, recorded from monerod 0.18.0.0. */
export function readRegtestChain(): RecordedBlock[] {
  const file = new URL("../../test/fixtures/regtest-chain.json.gz", import.meta.url);
  const { blocks } = JSON.parse(gunzipSync(readFileSync(file)).toString()) as Recording;
  return blocks.map(({ id, block, transactions, facts }) => ({
    id,
    block: readBlock(fromHex(block)),
    transactions: transactions.map((hex) => candidateOf(fromHex(hex))),
    weight: facts[0],
    longTermWeight: facts[1],
    claimed: BigInt(facts[2]),
    fees: BigInt(facts[3]),
    cumulativeDifficulty: BigInt(facts[4]),
  }));
}
