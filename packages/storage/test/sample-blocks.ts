import { createHash } from "node:crypto";
import type { NewBlock, NewTransaction, TransactionFacts } from "../src/block-changes.ts";

/** 32 bytes that look random and depend on the label alone. */
export function bytesOf(label: string): Uint8Array {
  return new Uint8Array(createHash("sha256").update(label).digest());
}

function sampleTransaction(name: string, amounts: readonly bigint[], images: number): NewTransaction {
  return {
    hash: bytesOf(`${name} hash`),
    pruned: Buffer.from(name),
    prunable: images === 0 ? new Uint8Array(0) : bytesOf(`${name} prunable`),
    prunableHash: bytesOf(`${name} prunable hash`),
    unlockTime: 60n,
    outputs: amounts.map((amount, i) => ({
      amount,
      key: bytesOf(`${name} key ${i}`),
      commitment: bytesOf(`${name} commitment ${i}`),
    })),
    keyImages: Array.from({ length: images }, (_, i) => bytesOf(`${name} image ${i}`)),
  };
}

/** Of transactions whose version knows no prunable part. */
const NO_HASH = new Uint8Array(32);

/** A made-up block: its miner transaction, one RingCT payment and one with plain amounts. */
export function sampleBlock(height: number): NewBlock {
  return {
    hash: bytesOf(`block ${height}`),
    blob: bytesOf(`blob ${height}`),
    timestamp: 1_500_000_000 + height,
    weight: 300,
    longTermWeight: 300,
    cumulativeDifficulty: (1n << 64n) + BigInt(height),
    alreadyGenerated: 35n * BigInt(height + 1),
    hardForkVersion: 16,
    minorVersion: 16,
    transactions: [
      sampleTransaction(`miner ${height}`, [0n], 0),
      sampleTransaction(`payment ${height}`, [0n, 0n], 2),
      { ...sampleTransaction(`old ${height}`, [7n, BigInt(height) + 10n], 1), prunableHash: NO_HASH },
    ],
  };
}

/** What the sample transaction with these pruned bytes creates and spends. */
export function sampleFacts(pruned: Uint8Array): TransactionFacts {
  const height = Number(Buffer.from(pruned).toString().split(" ")[1]);
  const found = sampleBlock(height).transactions.find((tx) => Buffer.compare(tx.pruned, pruned) === 0);
  if (found === undefined) throw new Error("not a sample transaction");
  return { outputAmounts: found.outputs.map((output) => output.amount), keyImages: found.keyImages };
}
