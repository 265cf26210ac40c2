import { forkRules } from "@anulo/protocol";
import type { ChainView } from "./chain-view.ts";
import { DIFFICULTY_BLOCKS, DIFFICULTY_CUT, DIFFICULTY_WINDOW } from "./constants.ts";
import { RuleViolation } from "./violations.ts";

const MAX_DIFFICULTY = 2n ** 128n - 1n;

/** Timestamps (Unix seconds) and cumulative difficulties of consecutive blocks, oldest first. */
export interface DifficultyWindow {
  timestamps: readonly number[];
  cumulativeDifficulties: readonly bigint[];
}

/**
 * Difficulty of the block after a window of at most 735: the 15 newest are ignored, the timestamps
 * sorted and 60 cut at each end; undefined where it would pass 128 bits.
 * Source: difficulty.cpp `next_difficulty`.
 */
export function nextDifficulty(window: DifficultyWindow, target: number): bigint | undefined {
  const timestamps = Float64Array.from(window.timestamps.slice(0, DIFFICULTY_WINDOW)).sort();
  const cumulative = window.cumulativeDifficulties.slice(0, DIFFICULTY_WINDOW);
  const length = timestamps.length;
  if (length <= 1) return 1n;
  const count = Math.min(length, DIFFICULTY_WINDOW - 2 * DIFFICULTY_CUT);
  const first = Math.ceil((length - count) / 2);
  const lastKept = first + count - 1;
  const seconds = BigInt(Math.max(1, timestamps[lastKept]! - timestamps[first]!));
  const work = cumulative[lastKept]! - cumulative[first]!;
  const difficulty = (work * BigInt(target) + seconds - 1n) / seconds;
  return difficulty > MAX_DIFFICULTY ? undefined : difficulty;
}

/**
 * Difficulty that the next block of this chain must meet; throws `RuleViolation` if it would overflow. The genesis
 * block never counts. Source: blockchain.cpp `get_difficulty_for_next_block`.
 */
export function difficultyOfNextBlock(chain: ChainView): bigint {
  if (chain.fixedDifficulty !== undefined) return chain.height === 0 ? 1n : chain.fixedDifficulty;
  const count = Math.min(DIFFICULTY_BLOCKS, Math.max(0, chain.height - 1));
  const window = {
    timestamps: chain.recentTimestamps(count),
    cumulativeDifficulties: chain.recentCumulativeDifficulties(count),
  };
  const difficulty = nextDifficulty(window, forkRules(chain.hardForkVersion).secondsPerBlock);
  if (!difficulty) throw new RuleViolation({ code: "DIFFICULTY_OVERFLOW" });
  return difficulty;
}
