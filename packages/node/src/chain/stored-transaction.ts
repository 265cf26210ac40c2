import { commitZeroMask } from "@anulo/crypto";
import {
  type IdentifiedTransaction,
  isMinerTransaction,
  keyImagesOf,
  NULL_HASH,
  outputKey,
  prunableHash,
  prunedTransactionWeight,
  readTransaction,
  type Transaction,
  transactionWeight,
  writePrunedTransaction,
  writeTransaction,
} from "@anulo/protocol";
import type {
  ChainReader,
  NewOutput,
  NewTransaction,
  StoredTransaction,
  TransactionFacts,
} from "@anulo/storage";

/** Whether an output is indexed among the RingCT outputs (amount 0) rather than under its visible amount. */
function isRingCtOutput({ prefix }: Transaction): boolean {
  return prefix.version > 1;
}

/**
 * Commitment (32 bytes) of an output; a visible amount has the mask 1, and so has a miner's, even if its transaction
 * had a RingCT part, as was possible before hard fork 12. Source: blockchain_db.cpp `add_transaction`.
 */
function commitmentOf(tx: Transaction, index: number): Uint8Array {
  const { prefix, ringct } = tx;
  const isVisible = ringct === undefined || ringct.type === 0 || isMinerTransaction(tx);
  return isVisible ? commitZeroMask(prefix.outputs[index]!.amount) : ringct.outputCommitments[index]!;
}

function outputsOf(tx: Transaction): NewOutput[] {
  return tx.prefix.outputs.map((output, i) => ({
    amount: isRingCtOutput(tx) ? 0n : output.amount,
    key: outputKey(output) ?? NULL_HASH,
    commitment: commitmentOf(tx, i),
  }));
}

/** The facts of a transaction that are stored besides its bytes. */
function rowOf(tx: Transaction, hash: Uint8Array) {
  const { prefix } = tx;
  return { hash, unlockTime: prefix.unlockTime, outputs: outputsOf(tx), keyImages: keyImagesOf(prefix) };
}

/** A transaction in the form that the store takes; `hash` is its id (32 bytes). */
export function newTransaction(tx: Transaction, hash: Uint8Array): NewTransaction {
  const pruned = writePrunedTransaction(tx);
  const prunable = writeTransaction(tx).subarray(pruned.length);
  const hashOfPrunable = tx.prefix.version === 1 ? NULL_HASH : prunableHash(tx);
  return { ...rowOf(tx, hash), pruned, prunable, prunableHash: hashOfPrunable };
}

/** The same for a transaction received as bytes, which are stored as they are, with or without the prunable part. */
export function newIdentifiedTransaction(
  identified: IdentifiedTransaction & { readonly isPruned?: boolean },
): NewTransaction {
  const { transaction, id, blob, prunedSize, prunableHash: hashOfPrunable, isPruned = false } = identified;
  const pruned = blob.subarray(0, prunedSize);
  const prunable = isPruned ? undefined : blob.subarray(prunedSize);
  return { ...rowOf(transaction, id), pruned, prunable, prunableHash: hashOfPrunable };
}

/** The same for a transaction received without its prunable part, only with the hash (32 bytes) of that part. */
export function newPrunedTransaction(
  tx: Transaction,
  hash: Uint8Array,
  hashOfPrunable: Uint8Array,
): NewTransaction {
  const parts = { pruned: writePrunedTransaction(tx), prunable: undefined };
  return { ...rowOf(tx, hash), ...parts, prunableHash: hashOfPrunable };
}

/** What a stored transaction creates and spends, from its pruned bytes. */
export function factsOfTransaction(pruned: Uint8Array): TransactionFacts {
  const tx = readTransaction(pruned, { pruned: true });
  const outputAmounts = tx.prefix.outputs.map(({ amount }) => (isRingCtOutput(tx) ? 0n : amount));
  return { outputAmounts, keyImages: keyImagesOf(tx.prefix) };
}

/** All bytes of a stored transaction; undefined where its prunable part was removed. */
export function transactionBlob(read: ChainReader, { id }: StoredTransaction): Uint8Array | undefined {
  const pruned = read.prunedTransaction(id);
  const prunable = read.prunablePart(id);
  if (pruned === undefined || prunable === undefined) return undefined;
  const blob = new Uint8Array(pruned.length + prunable.length);
  blob.set(pruned);
  blob.set(prunable, pruned.length);
  return blob;
}

/**
 * A stored transaction, as far as it is stored, and its weight in bytes, which is computed from the rest if a part was
 * pruned.
 */
export function storedTransaction(
  read: ChainReader,
  stored: StoredTransaction,
): { readonly transaction: Transaction; readonly weight: number } {
  const blob = transactionBlob(read, stored);
  if (blob !== undefined) {
    const transaction = readTransaction(blob);
    return { transaction, weight: transactionWeight(transaction, blob.length) };
  }
  const transaction = readTransaction(read.prunedTransaction(stored.id)!, { pruned: true });
  return { transaction, weight: prunedTransactionWeight(transaction) };
}
