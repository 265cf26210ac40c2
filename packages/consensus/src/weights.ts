import { forkRules, minimumFullRewardWeight } from "@anulo/protocol";
import type { ChainView } from "./chain-view.ts";
import { PENALTY_FREE_ZONE, REWARD_WINDOW, SURGE_FACTOR } from "./constants.ts";
import { median } from "./median.ts";
import { RuleViolation } from "./violations.ts";

/** The limits in force for the next block; all weights in bytes. */
export interface WeightLimits {
  /** Maximum weight of a block: twice the effective median. */
  blockLimit: number;
  /** The median the reward penalty (from hard fork 12) and the block limit are measured against. */
  effectiveMedian: number;
  /** Long-term median, at least 300,000; meaningful from hard fork 10. */
  longTermEffectiveMedian: number;
}

/** Limits for the next block of this chain. Source: blockchain.cpp `update_next_cumulative_weight_limit`. */
export function weightLimits(chain: ChainView): WeightLimits {
  const version = chain.hardForkVersion;
  const shortTermMedian = median(chain.recentWeights(REWARD_WINDOW));
  const longTermEffectiveMedian = Math.max(PENALTY_FREE_ZONE, chain.longTermWeightMedian);
  const scaled = scaledMedian({ version, shortTermMedian, longTermEffectiveMedian });
  const effectiveMedian = Math.max(minimumFullRewardWeight(version), scaled);
  return { blockLimit: 2 * effectiveMedian, effectiveMedian, longTermEffectiveMedian };
}

interface Medians {
  version: number;
  shortTermMedian: number;
  longTermEffectiveMedian: number;
}

/**
 * The short-term median, but at least the long-term one (2021 scaling) or the penalty-free zone, and at most 50 times
 * the long-term one; before hard fork 10 the short-term median itself.
 */
function scaledMedian({ version, shortTermMedian, longTermEffectiveMedian }: Medians): number {
  const { weight } = forkRules(version);
  if (weight === "short") return shortTermMedian;
  const floor = weight === "2021" ? longTermEffectiveMedian : PENALTY_FREE_ZONE;
  return Math.min(Math.max(floor, shortTermMedian), SURGE_FACTOR * longTermEffectiveMedian);
}

/**
 * Long-term weight (bytes) of the next block, given its weight: bounded to [median / 1.7, median · 1.7]
 * from hard fork 15, to median · 1.4 from hard fork 10, before that the weight itself.
 * Source: blockchain.cpp `get_next_long_term_block_weight`.
 */
export function longTermWeight(weight: number, chain: ChainView): number {
  const rule = forkRules(chain.hardForkVersion).weight;
  if (rule === "short") return weight;
  const centre = Math.max(PENALTY_FREE_ZONE, chain.longTermWeightMedian);
  if (rule === "long") {
    return Math.min(weight, centre + Math.floor((centre * 2) / 5));
  }
  const lowest = Math.floor((centre * 10) / 17);
  const highest = centre + Math.floor((centre * 7) / 10);
  return Math.min(Math.max(weight, lowest), highest);
}

/**
 * The median (bytes) the reward penalty is measured against: of the last 100 blocks, from hard fork 12
 * the effective median. Source: blockchain.cpp `validate_miner_transaction`.
 */
export function penaltyMedian(chain: ChainView, limits: WeightLimits): number {
  const isEffective = forkRules(chain.hardForkVersion).penalty === "effective";
  return isEffective ? limits.effectiveMedian : median(chain.recentWeights(REWARD_WINDOW));
}

/**
 * Maximum weight (bytes) of a transaction in a block: from hard fork 8 half of the smallest block, less 600 bytes for
 * the miner's. Source: tx_pool.cpp `get_transaction_weight_limit`.
 */
export function transactionWeightLimit(hardForkVersion: number): number {
  return forkRules(hardForkVersion).heaviestTransaction;
}

/** Number by which a block's own bytes may exceed the limit. Source: cryptonote_core.cpp `BLOCK_SIZE_SANITY_LEEWAY`. */
const BLOCK_SIZE_LEEWAY = 100;

/**
 * The bytes of a block, without its transactions, must not exceed its maximum weight with them; checked before they are
 * read. Source: cryptonote_core.cpp `check_incoming_block_size`.
 */
export function checkBlockSize(size: number, { blockLimit }: WeightLimits): void {
  const limit = blockLimit + BLOCK_SIZE_LEEWAY;
  if (size > limit) throw new RuleViolation({ code: "BLOCK_SIZE", size, limit });
}
