import type { TransactionCandidate, VerifiedBlock } from "@anulo/consensus";
import { type Block, blockId, readBlock, toHex, transactionHash } from "@anulo/protocol";
import type { NewBlock } from "@anulo/storage";
import { newTransaction } from "./stored-transaction.ts";

/** A block as it came in: parsed, with its id (32 bytes) and that id in hexadecimal. */
export interface IncomingBlock {
  readonly block: Block;
  readonly blob: Uint8Array;
  readonly id: Uint8Array;
  readonly key: string;
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
