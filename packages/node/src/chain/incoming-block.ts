import { MAX_TRANSACTION_SIZE, type TransactionCandidate, type VerifiedBlock } from "@anulo/consensus";
import { forEachSliced, type SliceOptions } from "@anulo/limits";
import {
  BadBytes,
  type Block,
  type IdentifiedTransaction,
  type ReadTransactionOptions,
  readIdentifiedBlock,
  readIdentifiedTransaction,
  readTransaction,
  toHex,
  transactionHash,
} from "@anulo/protocol";
import type { NewBlock } from "@anulo/storage";
import { newIdentifiedTransaction, newTransaction } from "./stored-transaction.ts";

/** A transaction with its bytes, as the rules judge it. */
export interface SuppliedTransaction extends IdentifiedTransaction {
  /** False where its proofs were not read, because its block is known. */
  readonly hasProofs: boolean;
  /** True where it was sent without proofs: its bytes end where they would begin. */
  readonly isPruned?: boolean;
}

/** A transaction as it was received: all its bytes; or those without proofs, and the hash (32 bytes) of the proofs. */
export type FetchedTransaction =
  | Uint8Array
  | { readonly pruned: Uint8Array; readonly prunableHash: Uint8Array; readonly weight: number };

/** Transactions supplied with a block, by id (hexadecimal). */
export type SuppliedTransactions = ReadonlyMap<string, SuppliedTransaction>;

/** A block as it was received: parsed, with its id as 32 bytes and in hexadecimal. */
export interface IncomingBlock {
  readonly block: Block;
  readonly blob: Uint8Array;
  readonly id: Uint8Array;
  readonly key: string;
  /** Hash (32 bytes) of its miner's transaction. */
  readonly minerTransactionHash: Uint8Array;
  /** Transactions that were supplied with it; the others are looked up in the pool. */
  readonly transactions?: SuppliedTransactions;
}

/** Reads a whole transaction; throws BadBytes, also for one longer than any block may hold. */
export function readSuppliedTransaction(
  blob: Uint8Array,
  options: ReadTransactionOptions = {},
): SuppliedTransaction {
  if (blob.length > MAX_TRANSACTION_SIZE) throw new BadBytes(`a transaction of ${blob.length} bytes`);
  return { ...readIdentifiedTransaction(blob, options), hasProofs: options.withProofs ?? true };
}

/** Reads a transaction as it was received; throws BadBytes. */
function readFetchedTransaction(
  fetched: FetchedTransaction,
  options: ReadTransactionOptions | undefined,
): SuppliedTransaction {
  if (fetched instanceof Uint8Array) return readSuppliedTransaction(fetched, options);
  const { pruned, prunableHash, weight } = fetched;
  if (pruned.length > MAX_TRANSACTION_SIZE) throw new BadBytes(`a transaction of ${pruned.length} bytes`);
  const transaction = readTransaction(pruned, { pruned: true });
  if (transaction.ringct === undefined) throw new BadBytes("a transaction of version 1 that was pruned");
  const id = transactionHash(transaction, prunableHash);
  const bytes = { blob: pruned, prunedSize: pruned.length, prunableHash };
  return { transaction, id, weight, ...bytes, hasProofs: false, isPruned: true };
}

function isSupplied(candidate: TransactionCandidate | SuppliedTransaction): candidate is SuppliedTransaction {
  return "hasProofs" in candidate;
}

/** The same transaction with its proofs, to be verified; throws BadBytes. */
export function withProofs(candidate: TransactionCandidate): TransactionCandidate {
  const isUnread = isSupplied(candidate) && !candidate.hasProofs;
  return isUnread ? readSuppliedTransaction(candidate.blob) : candidate;
}

/** Reads a block and the transactions supplied with it; rejects with BadBytes. */
export async function readBlockWithTransactions(
  blob: Uint8Array,
  blobs: readonly Uint8Array[],
): Promise<IncomingBlock> {
  return withTransactions(readIncomingBlock(blob), blobs);
}

/** Reads the supplied transactions, which the block must name, in slices; rejects with BadBytes. */
export async function withTransactions(
  incoming: IncomingBlock,
  fetched: readonly FetchedTransaction[],
  { turns, ...options }: ReadTransactionOptions & Pick<SliceOptions, "turns"> = {},
): Promise<IncomingBlock> {
  const named = new Set(incoming.block.transactionHashes.map(toHex));
  if (fetched.length > named.size) throw new BadBytes("more transactions than the block holds");
  const transactions = new Map<string, SuppliedTransaction>();
  const read = (one: FetchedTransaction) => {
    const transaction = readFetchedTransaction(one, options);
    const key = toHex(transaction.id);
    if (!named.has(key)) throw new BadBytes("a transaction that the block does not hold");
    transactions.set(key, transaction);
  };
  await forEachSliced(fetched, read, { turns });
  return { ...incoming, transactions };
}

/** Reads a block; its bytes are those of its serialization even if the last byte was missing; throws BadBytes. */
export function readIncomingBlock(bytes: Uint8Array): IncomingBlock {
  const { block, blob, id, minerTransactionHash } = readIdentifiedBlock(bytes);
  return { block, blob, id, key: toHex(id), minerTransactionHash };
}

/** A verified block in the form that the store takes. */
export function newBlock(
  { block, blob, id, minerTransactionHash }: IncomingBlock,
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
      newTransaction(minerTransaction, minerTransactionHash),
      ...transactions.map((candidate) =>
        isSupplied(candidate)
          ? newIdentifiedTransaction(candidate)
          : newTransaction(candidate.transaction, candidate.id),
      ),
    ],
  };
}
