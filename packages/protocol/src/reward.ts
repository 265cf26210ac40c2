import { MAX_AMOUNT } from "./amount.ts";
import { forkRules } from "./fork-rules.ts";

/**
 * Atomic units per minute that are emitted for ever ("tail"). Source: cryptonote_config.h `FINAL_SUBSIDY_PER_MINUTE`.
 */
const TAIL_PER_MINUTE = 300_000_000_000n;

/** Weight (bytes) up to which a block of this version is never penalised. Source: `get_min_block_weight`. */
export function minimumFullRewardWeight(version: number): number {
  return forkRules(version).freeWeight;
}

/**
 * New coins (atomic units) of a block without penalty, and without fees; `alreadyGenerated` are all coins before it.
 */
export function baseReward({
  alreadyGenerated,
  version,
}: {
  alreadyGenerated: bigint;
  version: number;
}): bigint {
  const minutes = forkRules(version).secondsPerBlock / 60;
  const curve = (MAX_AMOUNT - alreadyGenerated) >> BigInt(21 - minutes);
  const tail = TAIL_PER_MINUTE * BigInt(minutes);
  return curve < tail ? tail : curve;
}

export type RewardParameters = {
  /** Median weight (bytes) of the blocks before. */
  medianWeight: number;
  /** Weight (bytes) of the block. */
  weight: number;
  alreadyGenerated: bigint;
  version: number;
};

/**
 * New coins (atomic units) of a block, with the penalty for weight above the median: base · (1 − (w/m − 1)²);
 * undefined when it is heavier than twice the median. Source: cryptonote_basic_impl.cpp `get_block_reward`.
 */
export function blockReward({
  medianWeight,
  weight,
  alreadyGenerated,
  version,
}: RewardParameters): bigint | undefined {
  const base = baseReward({ alreadyGenerated, version });
  const median = Math.max(medianWeight, minimumFullRewardWeight(version));
  if (weight <= median) return base;
  if (weight > 2 * median) return undefined;
  const m = BigInt(median);
  const w = BigInt(weight);
  return (base * (2n * m - w) * w) / m / m;
}
