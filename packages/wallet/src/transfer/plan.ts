/**
 * From a request to planned transactions: inputs, amounts, change and fee of each.
 * The order of steps decides what an observer could learn, so it follows wallet2.cpp `create_transactions_2` and
 * `create_transactions_from`.
 */
import { estimateTransactionWeight, feeOfWeight, sumAmounts } from "@anulo/protocol";
import type { OwnedOutput } from "../outputs/owned-output.ts";
import { WalletRefusal } from "../refusal.ts";
import type { Destination, FeeRate, PlannedTransaction } from "./stages.ts";
import { RING_SIZE } from "./stages.ts";

/** A transaction is closed when its estimated weight exceeds this (bytes). Source: TX_WEIGHT_TARGET. */
export const WEIGHT_LIMIT = 300_000 / 2 - 600;
const WEIGHT_TARGET = Math.floor((WEIGHT_LIMIT * 2) / 3);
/** One output stays free for the change. */
export const MAX_DESTINATIONS = 15;

/** The steps of planning that need more than arithmetic. */
export type PlanContext = {
  readonly fee: FeeRate;
  /** Bytes of `extra` known beforehand: the encrypted payment id's nonce field, otherwise 0. */
  readonly extraSize: number;
  /** True if the transactions will have public amounts and no rings. */
  readonly isVisible?: boolean;
  /** Weight in bytes of the transaction with its rings; the rings of the inputs are requested for that. */
  readonly weigh: (planned: PlannedTransaction) => Promise<number>;
};

/** Sum of amounts (atomic units). */
export const sum = (amounts: readonly bigint[]): bigint =>
  amounts.reduce((total, amount) => total + amount, 0n);

/** Estimated weight (bytes) of a transaction with these numbers of inputs and outputs. */
export function estimatedWeight(inputs: number, outputs: number, extraSize: number): number {
  return estimateTransactionWeight({ inputs, outputs, ringSize: RING_SIZE, extraSize });
}

/** Size in bytes of an input with a ring of one, before RingCT. Source: wallet2.cpp APPROXIMATE_INPUT_BYTES. */
const VISIBLE_INPUT_BYTES = 80;

type Estimating = Pick<PlanContext, "extraSize" | "isVisible">;

function estimate(inputs: number, outputs: number, { extraSize, isVisible }: Estimating): number {
  if (isVisible === true) return inputs * VISIBLE_INPUT_BYTES + extraSize + outputs;
  return estimatedWeight(inputs, outputs, extraSize);
}

/** Whether another input would make the transaction larger than `WEIGHT_LIMIT`. */
export function isFull(inputs: number, outputs: number, context: Estimating): boolean {
  return estimate(inputs, outputs, context) >= WEIGHT_TARGET;
}

/** Outputs worth less than this, the fee for spending them, aren't spent. */
export function fractionalThreshold({ feePerByte }: FeeRate): bigint {
  return feePerByte * BigInt(estimatedWeight(2, 2, 0) - estimatedWeight(1, 2, 0));
}

/** Number of outputs with change, or with a dummy if there would be only one. Source: `get_num_outputs`. */
export function outputCount(destinations: readonly Destination[], inputs: readonly OwnedOutput[]): number {
  const hasChange = sumAmounts(inputs) !== sumAmounts(destinations);
  return Math.max(2, destinations.length + (hasChange ? 1 : 0));
}

/** Fee (atomic units) from the estimated weight. */
export function estimatedFee(inputs: number, outputs: number, context: PlanContext): bigint {
  const { feePerByte, quantizationMask } = context.fee;
  return feeOfWeight(estimate(inputs, outputs, context), feePerByte, quantizationMask);
}

/** Fee (atomic units) that a planned transaction needs for its real weight. */
export async function neededFee(planned: PlannedTransaction, { fee, weigh }: PlanContext): Promise<bigint> {
  return feeOfWeight(await weigh(planned), fee.feePerByte, fee.quantizationMask);
}

/** Fixes the fee; the change is what remains. */
export function withFee(
  inputs: readonly OwnedOutput[],
  destinations: readonly Destination[],
  fee: bigint,
): PlannedTransaction {
  return { inputs, destinations, fee, change: sumAmounts(inputs) - sumAmounts(destinations) - fee };
}

/**
 * Subtracts the fee from the amounts of those who pay it, in equal shares. Throws `WalletRefusal` if an amount is too
 * small.
 */
export function withFeeSubtracted(
  inputs: readonly OwnedOutput[],
  destinations: readonly Destination[],
  fee: bigint,
): PlannedTransaction {
  const payers = BigInt(destinations.filter(({ paysFee }) => paysFee === true).length);
  let remaining = fee;
  let payersLeft = payers;
  const reduced = destinations.map((destination) => {
    if (destination.paysFee !== true) return destination;
    const share = remaining - (remaining * (payersLeft - 1n)) / payersLeft;
    remaining -= share;
    payersLeft -= 1n;
    if (destination.amount <= share)
      throw new WalletRefusal("TX_NOT_POSSIBLE", "a destination gets less than its share of the fee");
    return { ...destination, amount: destination.amount - share };
  });
  return withFee(inputs, reduced, fee);
}

/**
 * Maximum number of attempts to find a fee that suffices for the transaction with that fee. Source: wallet2.cpp
 * `create_transactions_2`.
 */
const FEE_ATTEMPTS = 10;

/**
 * Plans a transaction that pays for its own final weight: `planWith` plans it with a fee (atomic units), at first
 * `fee`, which rises while the resulting transaction needs more. Payments and sweeps use the same steps, so that their
 * fees do not distinguish them. Throws `WalletRefusal`.
 */
export async function settleFee(
  planWith: (fee: bigint) => PlannedTransaction,
  fee: bigint,
  context: PlanContext,
): Promise<PlannedTransaction> {
  let current = fee;
  for (let attempt = 0; attempt < FEE_ATTEMPTS; attempt++) {
    const planned = planWith(current);
    if (planned.change < 0n) throw new WalletRefusal("GENERIC_TRANSFER_ERROR", "not enough unlocked money");
    const needed = await neededFee(planned, context);
    if (needed <= current) return planned;
    current = needed;
  }
  throw new WalletRefusal(
    "GENERIC_TRANSFER_ERROR",
    "Too many attempts to raise pending tx fee to level of needed fee",
  );
}
