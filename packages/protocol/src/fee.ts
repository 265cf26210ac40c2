import { roundAmountUp } from "./amount.ts";
import { forkRules } from "./fork-rules.ts";
import { minimumFullRewardWeight } from "./reward.ts";

/** Fees are whole multiples of this many atomic units (8 decimals). Source: `get_fee_quantization_mask`. */
export const FEE_QUANTIZATION_MASK = 10_000n;
/** Weight (bytes) to which the fee formulas are scaled. Source: cryptonote_config.h. */
const REFERENCE_WEIGHT = 3000n;
/** Fee per kB (atomic units) before fees were dynamic. */
const FIXED_FEE_PER_KB = 2_000_000_000n;
/** Reward (atomic units) at which the fee per kB had its base value. */
const BASE_BLOCK_REWARD = 10_000_000_000_000n;
/** The reward that the original assumes where it is unknown. */
export const BLOCK_REWARD_OVERESTIMATE = 10_000_000_000_000n;
const FULL_REWARD_ZONE = 300_000n;
const ROUNDING_DIGITS = 2;

function roundUpTo(value: bigint, unit: bigint): bigint {
  return ((value + unit - 1n) / unit) * unit;
}

/** Whether fees of this hard fork are per byte of weight; before they were per kB of size. */
export function isFeePerByte(version: number): boolean {
  const { fee } = forkRules(version);
  return fee === "dynamic, per byte" || fee === "2021, per byte";
}

export type FeeParameters = {
  /** Base reward (atomic units) of the next block. */
  reward: bigint;
  /** Median block weight (bytes); from hard fork 10 not above the long-term effective median. */
  medianWeight: number;
  version: number;
};

/**
 * Smallest fee (atomic units) that a node accepts, per byte of weight from hard fork 8, per kB before. Source:
 * blockchain.cpp `get_dynamic_base_fee`; "Monero dynamic block size and fees" (2021) for fork 15.
 */
export function dynamicBaseFee({ reward, medianWeight, version }: FeeParameters): bigint {
  const rule = forkRules(version).fee;
  if (rule === "fixed, per kB") return FIXED_FEE_PER_KB;
  const zone = BigInt(minimumFullRewardWeight(version));
  const median = BigInt(medianWeight) > zone ? BigInt(medianWeight) : zone;
  if (rule === "2021, per byte") {
    const whole = (reward * REFERENCE_WEIGHT) / median / median;
    const fee = whole - whole / 20n;
    return fee === 0n ? 1n : fee;
  }
  if (isFeePerByte(version)) return (reward * REFERENCE_WEIGHT) / median / zone / 5n;
  const base = zone === FULL_REWARD_ZONE ? (FIXED_FEE_PER_KB * 60_000n) / FULL_REWARD_ZONE : FIXED_FEE_PER_KB;
  const scaled = ((base * zone) / median) * reward;
  return roundUpTo(scaled / BASE_BLOCK_REWARD, FEE_QUANTIZATION_MASK);
}

export type Fee2021Parameters = {
  /** Base reward (atomic units) of the next block. */
  reward: bigint;
  /** Effective short-term median block weight (bytes). */
  shortTermMedian: number;
  /** Long-term median block weight (bytes), at least 300,000. */
  longTermMedian: number;
};

/**
 * Fees per byte (atomic units) that a wallet uses for the priorities slow, normal, fast and fastest. Source:
 * blockchain.cpp `get_dynamic_base_fee_estimate_2021_scaling`.
 */
export function dynamicFees2021(question: Fee2021Parameters): [bigint, bigint, bigint, bigint] {
  const shortTerm = BigInt(question.shortTermMedian);
  const longTerm = BigInt(question.longTermMedian);
  const median = shortTerm < longTerm ? shortTerm : longTerm;
  const scaled = question.reward * REFERENCE_WEIGHT;
  const slow = scaled / (median * median);
  const normal = (4n * scaled) / (median * median);
  const fast = (16n * scaled) / (FULL_REWARD_ZONE * median);
  const steep = (4n * fast * median) / ((32n * REFERENCE_WEIGHT * shortTerm) / FULL_REWARD_ZONE);
  const fastest = steep > 4n * fast ? steep : 4n * fast;
  const rounded = (fee: bigint) => roundAmountUp(fee, ROUNDING_DIGITS);
  return [rounded(slow), rounded(normal), rounded(fast), rounded(fastest)];
}

/** Fee (atomic units) of this weight (bytes), rounded up to the quantisation mask. */
export function feeOfWeight(
  weight: number,
  feePerByte: bigint,
  mask: bigint = FEE_QUANTIZATION_MASK,
): bigint {
  return roundUpTo(BigInt(weight) * feePerByte, mask);
}

/** Fee (atomic units) of a transaction by the rules of a hard fork; `baseFee` from `dynamicBaseFee`. */
export function neededFee(question: { weight: number; baseFee: bigint; version: number }): bigint {
  const { weight, baseFee, version } = question;
  return isFeePerByte(version) ? feeOfWeight(weight, baseFee) : BigInt(Math.ceil(weight / 1024)) * baseFee;
}

/** Whether a node accepts the fee, which may be 2% less than needed. Source: blockchain.cpp `check_fee`. */
export function isFeeEnough(fee: bigint, needed: bigint): boolean {
  return fee >= needed - needed / 50n;
}
