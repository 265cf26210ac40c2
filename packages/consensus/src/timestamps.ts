import { forkRules } from "@anulo/protocol";
import type { ChainView } from "./chain-view.ts";
import { FUTURE_TIME_LIMIT_SECONDS, TIMESTAMP_WINDOW } from "./constants.ts";
import { median } from "./median.ts";
import { RuleViolation } from "./violations.ts";

/** Median timestamp (Unix seconds) of the last 60 blocks; undefined on a chain shorter than that. */
export function medianTimestamp(chain: ChainView): number | undefined {
  if (chain.height < TIMESTAMP_WINDOW) return undefined;
  return median(chain.recentTimestamps(TIMESTAMP_WINDOW));
}

/**
 * A block must be at most two hours ahead of the clock (`now`, Unix seconds) and not older than the median. Source:
 * blockchain.cpp `check_block_timestamp`.
 */
export function checkTimestamp(timestamp: number, chain: ChainView, now: number): void {
  checkTimestampNotAhead(timestamp, now);
  checkTimestampNotBefore(timestamp, medianTimestamp(chain));
}

/** A block must be at most two hours ahead of the clock (`now`, Unix seconds). */
export function checkTimestampNotAhead(timestamp: number, now: number): void {
  const limit = now + FUTURE_TIME_LIMIT_SECONDS;
  if (timestamp > limit) throw new RuleViolation({ code: "TIMESTAMP_TOO_LATE", timestamp, limit });
}

/** A block must not be older than this median; any timestamp is allowed if there is none. */
export function checkTimestampNotBefore(timestamp: number, earliest: number | undefined): void {
  if (earliest !== undefined && timestamp < earliest) {
    throw new RuleViolation({ code: "TIMESTAMP_TOO_EARLY", timestamp, median: earliest });
  }
}

/**
 * The time (Unix seconds) unlock times are compared with, from hard fork 13 the same on every node:
 * the smaller of the projected median and the latest of 60 timestamps plus one target; on a chain
 * shorter than 60 blocks the clock (`now`).
 * Source: blockchain.cpp `get_adjusted_time`, where taking the median sorts the timestamps, so that
 * their last is the latest time, not the latest block's.
 */
export function adjustedTime(chain: Pick<ChainView, "recentTimestamps">, now: number): number {
  const timestamps = chain.recentTimestamps(TIMESTAMP_WINDOW);
  if (timestamps.length < TIMESTAMP_WINDOW) return now;
  const target = forkRules(2).secondsPerBlock;
  const projectedMedian = median(timestamps) + ((TIMESTAMP_WINDOW + 1) * target) / 2;
  return Math.min(Math.max(...timestamps) + target, projectedMedian);
}
