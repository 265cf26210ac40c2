import type { TransactionCandidate, VerifiedBlock } from "@anulo/consensus";
import {
  type Block,
  blockId,
  readBlock,
  readTransaction,
  toHex,
  transactionHash,
  transactionWeight,
} from "@anulo/protocol";
import type { NewBlock } from "@anulo/storage";
import { newTransaction } from "./stored-transaction.ts";

/** A transaction with its bytes, as the rules judge it. */
export interface SuppliedTransaction extends TransactionCandidate {
  readonly blob: Uint8Array;
}

/** Transactions that came with a block, by id (hexadecimal). */
export type SuppliedTransactions = ReadonlyMap<string, SuppliedTransaction>;

/** A block as it came in: parsed, with its id (32 bytes) and that id in hexadecimal. */
export interface IncomingBlock {
  readonly block: Block;
  readonly blob: Uint8Array;
  readonly id: Uint8Array;
  readonly key: string;
  /** Those of its transactions that came along; the others are looked for in the pool. */
  readonly transactions?: SuppliedTransactions;
}

/** Reads a whole transaction; throws BadBytes. */
export function readSuppliedTransaction(blob: Uint8Array): SuppliedTransaction {
  const transaction = readTransaction(blob);
  const id = transactionHash(transaction);
  return { transaction, id, weight: transactionWeight(transaction, blob.length), blob };
}

/** Reads a block with the transactions that came along; throws BadBytes. */
export function readBlockWithTransactions(blob: Uint8Array, blobs: readonly Uint8Array[]): IncomingBlock {
  const supplied = blobs.map(readSuppliedTransaction);
  const transactions = new Map(supplied.map((transaction) => [toHex(transaction.id), transaction]));
  return { ...readIncomingBlock(blob), transactions };
}

/** Reads a block; throws BadBytes. */
export function readIncomingBlock(blob: Uint8Array): IncomingBlock {
  const block = readBlock(blob);
  const id = blockId(block);
  return { block, blob, id, key: toHex(id) };
}

/** A verified block as the store keeps it. */
export function newBlock(
  { block, blob, id }: IncomingBlock,
  transactions: readonly TransactionCandidate[],
  verified: VerifiedBlock,
): NewBlock {
  const { minerTransaction, header } = block;
  return {
    hash: id,
    blob,
    timestamp: header.timestamp,
    weight: verified.weight,
    longTermWeight: verified.longTermWeight,
    cumulativeDifficulty: verified.cumulativeDifficulty,
    alreadyGenerated: verified.alreadyGenerated,
    hardForkVersion: header.majorVersion,
    minorVersion: header.minorVersion,
    transactions: [
      newTransaction(minerTransaction, transactionHash(minerTransaction)),
      ...transactions.map(({ transaction, id: transactionId }) => newTransaction(transaction, transactionId)),
    ],
  };
}
