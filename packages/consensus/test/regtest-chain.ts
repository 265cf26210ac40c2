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

type Facts = [weight: number, longTermWeight: number, claimed: number, fees: number, cumulative: number];

interface RecordedBytes {
  hash: string;
  block: string;
  txs: string[];
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

function readText(path: string): string {
  return gunzipSync(readFileSync(new URL(path, import.meta.url))).toString();
}

/** 500 regtest blocks with 402 transactions, recorded from monerod 0.18.0.0, and its figures for each. */
export function readRegtestChain(): RecordedBlock[] {
  const facts = JSON.parse(readText("../../test/fixtures/regtest-facts.json.gz")) as { blocks: Facts[] };
  const lines = readText("../../../testkit/fixtures/chain/blocks.jsonl.gz").trim().split("\n");
  return lines.map((line, height) => {
    const { hash: id, block, txs } = JSON.parse(line) as RecordedBytes;
    const [weight, longTermWeight, claimed, fees, cumulative] = facts.blocks[height]!;
    return {
      id,
      block: readBlock(fromHex(block)),
      transactions: txs.map((hex) => candidateOf(fromHex(hex))),
      weight,
      longTermWeight,
      claimed: BigInt(claimed),
      fees: BigInt(fees),
      cumulativeDifficulty: BigInt(cumulative),
    };
  });
}
