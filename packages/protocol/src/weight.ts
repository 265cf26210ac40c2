import { BadBytes } from "./codec/bytes-io.ts";
import type { RingCt } from "./ringct.ts";
import { maxAmountsOfProofs, ringCtTypes } from "./ringct.ts";
import type { Transaction } from "./transaction.ts";
import { writePrunedTransaction, writeTransaction } from "./transaction.ts";

/** A Bulletproof(+) transaction has at most 16 outputs. Source: cryptonote_config.h. */
export const MAX_PROOF_OUTPUTS = 16;

/** A Bulletproof has 9 elements besides its L and R, a Bulletproof+ 6; each of 32 bytes. */
function proofSize(isPlus: boolean, rounds: number): number {
  return 32 * ((isPlus ? 6 : 9) + 2 * rounds);
}

/** Number of rounds (an L and an R each) of a proof of 64 bits for each of `paddedOutputs` (a power of two) amounts. */
function roundsOf(paddedOutputs: number): number {
  return 6 + Math.log2(paddedOutputs);
}

/**
 * Weight (bytes) added because one proof for many outputs is short but slow to verify: four fifths of what it
 * saves against proofs of two. Source: cryptonote_format_utils.cpp `get_transaction_weight_clawback`.
 */
function clawback(paddedOutputs: number, isPlus: boolean): number {
  if (paddedOutputs <= 2) return 0;
  const notional = (proofSize(isPlus, 7) / 2) * paddedOutputs;
  const size = proofSize(isPlus, Math.ceil(roundsOf(paddedOutputs)));
  return Math.floor(((notional - size) * 4) / 5);
}

/** As `clawback`; throws `BadBytes` where one proof cannot hold the outputs. */
function checkedClawback(outputs: number, paddedOutputs: number, isPlus: boolean): number {
  if (paddedOutputs > 2 && outputs > MAX_PROOF_OUTPUTS)
    throw new BadBytes("more outputs than a range proof holds");
  return clawback(paddedOutputs, isPlus);
}

/** Bytes of a whole transaction. */
export function transactionBlobSize(tx: Transaction): number {
  return writeTransaction(tx).length;
}

type WithProofs = Extract<RingCt, { prunable: unknown }>;

function isBulletproofType(ringct: RingCt | undefined): ringct is WithProofs {
  return ringct !== undefined && ringct.type >= ringCtTypes.bulletproof;
}

/**
 * Weight in bytes of a whole transaction: its size, and the clawback of range proofs for more than two outputs.
 * Throws `RangeError` when it has been pruned, `BadBytes` when its proof cannot be weighed.
 * Source: cryptonote_format_utils.cpp `get_transaction_weight`.
 */
export function transactionWeight(tx: Transaction, blobSize: number = transactionBlobSize(tx)): number {
  const { ringct } = tx;
  if (!isBulletproofType(ringct)) return blobSize;
  if (ringct.prunable === undefined) throw new RangeError("this transaction has been pruned");
  const { bulletproofs, bulletproofsPlus } = ringct.prunable;
  return weightWithProofs(tx, blobSize, [...bulletproofs, ...bulletproofsPlus]);
}

/**
 * The weight of a transaction of this many bytes with these Bulletproofs, whether or not they are in `tx`. Throws
 * `BadBytes`.
 */
export function weightWithProofs(
  { prefix, ringct }: Transaction,
  blobSize: number,
  proofs: Parameters<typeof maxAmountsOfProofs>[0],
): number {
  if (!isBulletproofType(ringct)) return blobSize;
  const isPlus = ringct.type === ringCtTypes.bulletproofPlus;
  return blobSize + checkedClawback(prefix.outputs.length, maxAmountsOfProofs(proofs), isPlus);
}

function nextPowerOfTwo(count: number): number {
  let power = 1;
  while (power < count) power *= 2;
  return power;
}

/**
 * Weight in bytes that a pruned transaction of RingCT type 4 or later has as a whole. Throws `RangeError` for others.
 * Source: cryptonote_format_utils.cpp `get_pruned_transaction_weight`.
 */
export function prunedTransactionWeight(tx: Transaction): number {
  const { prefix, ringct } = tx;
  const first = prefix.inputs[0];
  if (!isBulletproofType(ringct) || ringct.type === ringCtTypes.bulletproof || first?.type !== "key") {
    throw new RangeError("the weight of this transaction cannot be told from its pruned form");
  }
  const isPlus = ringct.type === ringCtTypes.bulletproofPlus;
  const padded = nextPowerOfTwo(prefix.outputs.length);
  const ringSize = first.keyOffsets.length;
  const hasClsags = ringct.type >= ringCtTypes.clsag;
  const signature = 32 * (hasClsags ? ringSize + 2 : 2 * ringSize + 1);
  const proof = proofSize(isPlus, roundsOf(padded)) + 2;
  const size = writePrunedTransaction(tx).length + 1 + proof + prefix.inputs.length * (signature + 32);
  return size + checkedClawback(prefix.outputs.length, padded, isPlus);
}

/** The counts of a transaction that is not built yet. `extraSize` in bytes. */
export type TransactionShape = { inputs: number; outputs: number; ringSize: number; extraSize: number };

/**
 * Estimates the bytes of a Bulletproof+/CLSAG transaction with view tags before it is built; wallets compute their fee
 * from the weight below. Source: wallet2.cpp `estimate_rct_tx_size`.
 */
export function estimateTransactionSize({ inputs, outputs, ringSize, extraSize }: TransactionShape): number {
  const inputBytes = 1 + 6 + 2 * ringSize + 32;
  const outputBytes = 6 + 32 + 1;
  const prefix = 1 + 6 + inputs * inputBytes + outputs * outputBytes + extraSize;
  const rangeProof = proofSize(true, roundsOf(nextPowerOfTwo(outputs))) + 3;
  const signatures = inputs * (32 * ringSize + 64 + 32);
  const ringCtBase = 1 + 4 + outputs * (8 + 32);
  return prefix + rangeProof + signatures + ringCtBase;
}

/** Estimates the weight (bytes) of such a transaction. Source: wallet2.cpp `estimate_tx_weight`. */
export function estimateTransactionWeight(shape: TransactionShape): number {
  const { outputs } = shape;
  const added = outputs > 2 ? clawback(nextPowerOfTwo(outputs), true) : 0;
  return estimateTransactionSize(shape) + added;
}
