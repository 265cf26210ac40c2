/** A number of blocks in some minutes that differs much from the expected number. */
export interface UnusualBlockRate {
  readonly minutes: number;
  readonly blocks: number;
  readonly expected: number;
}

/** Seconds between two blocks. Source: cryptonote_config.h `DIFFICULTY_TARGET_V2`. */
const TARGET = 120;
/**
 * A result that chance explains once in ten days of checks is not reported. Source: cryptonote_core.cpp
 * `check_block_rate`.
 */
const ALERT_PROBABILITY = TARGET / 864_000;
/** Lengths of the checked spans, in seconds, longest first. */
const SPANS_SECONDS = [5400, 3600, 1800, 1200, 600] as const;
/** Number of newest blocks that have to be read. */
export const RATE_BLOCKS = 150;

/** Probability of exactly this many blocks. Source: https://www.umass.edu/wsp/resources/poisson. */
function poisson(blocks: number, expected: number): number {
  let chance = Math.exp(-expected);
  for (let i = 1; i <= blocks; i++) chance *= expected / i;
  return chance;
}

/** Probability of a number of blocks at least as far from the expected one as this. */
function probabilityOf(blocks: number, expected: number): number {
  const [from, to] = blocks <= expected ? [0, blocks] : [blocks, 3 * expected];
  let sum = 0;
  for (let count = from; count <= to; count++) sum += poisson(count, expected);
  return sum;
}

/**
 * The longest span in which there were far more or fewer blocks than chance explains: the network's hash rate has
 * changed, we are cut off from it, or the clock is wrong. Times in Unix seconds.
 */
export function unusualBlockRate(timestamps: readonly number[], now: number): UnusualBlockRate | undefined {
  for (const seconds of SPANS_SECONDS) {
    const blocks = timestamps.filter((timestamp) => timestamp >= now - seconds).length;
    const expected = seconds / TARGET;
    if (probabilityOf(blocks, expected) < ALERT_PROBABILITY)
      return { minutes: seconds / 60, blocks, expected };
  }
  return undefined;
}
