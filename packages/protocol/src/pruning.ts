/**
 * Which blocks a pruned node keeps whole: the chain is divided into a cycle of stripes, of which each such node keeps
 * one, besides the newest blocks.
 */

/** Blocks of one stripe. Source: cryptonote_config.h `CRYPTONOTE_PRUNING_STRIPE_SIZE`. */
export const PRUNING_STRIPE_BLOCKS = 4096;
/** Two to this power is the number of stripes. Source: `CRYPTONOTE_PRUNING_LOG_STRIPES`. */
export const PRUNING_LOG_STRIPES = 3;
/** Newest blocks, which every node keeps whole. Source: `CRYPTONOTE_PRUNING_TIP_BLOCKS`. */
export const PRUNING_TIP_BLOCKS = 5500;

const LOG_STRIPES_SHIFT = 7;
const LOG_STRIPES_MASK = 7;
const STRIPE_MASK = 127;

/** The seed of a node that keeps this stripe (1 to 2^logStripes). Source: pruning.h, pruning.cpp `make_pruning_seed`. */
export function pruningSeed(stripe: number, logStripes: number = PRUNING_LOG_STRIPES): number {
  if (!Number.isInteger(logStripes) || logStripes < 0 || logStripes > LOG_STRIPES_MASK) {
    throw new RangeError(`there are no 2^${logStripes} stripes`);
  }
  if (!Number.isInteger(stripe) || stripe < 1 || stripe > 2 ** logStripes) {
    throw new RangeError(`${stripe} is no stripe of 2^${logStripes}`);
  }
  return logStripes * 2 ** LOG_STRIPES_SHIFT + stripe - 1;
}

/** The stripe of a seed, counted from 1; 0 for the seed 0, of a node that is not pruned. */
export function stripeOfSeed(seed: number): number {
  return seed === 0 ? 0 : 1 + (seed & STRIPE_MASK);
}

/** The binary logarithm of the number of stripes of a seed. */
export function logStripesOfSeed(seed: number): number {
  return (seed >>> LOG_STRIPES_SHIFT) & LOG_STRIPES_MASK;
}

/** Whether nodes accept a seed from each other: 0, or a stripe of the usual number of stripes. */
export function isPruningSeed(seed: number): boolean {
  if (seed === 0) return true;
  return logStripesOfSeed(seed) === PRUNING_LOG_STRIPES && stripeOfSeed(seed) <= 2 ** PRUNING_LOG_STRIPES;
}

/** The stripe of a block, counted from 1; 0 for a block so new that all nodes keep it. `chainHeight` counts blocks. */
export function stripeOfBlock(height: number, chainHeight: number, logStripes = PRUNING_LOG_STRIPES): number {
  if (height + PRUNING_TIP_BLOCKS >= chainHeight) return 0;
  return (Math.floor(height / PRUNING_STRIPE_BLOCKS) % 2 ** logStripes) + 1;
}

/** Whether a node with this seed keeps the block whole, on a chain of `chainHeight` blocks. */
export function keepsWholeBlock(height: number, chainHeight: number, seed: number): boolean {
  if (seed === 0) return true;
  const stripe = stripeOfBlock(height, chainHeight, logStripesOfSeed(seed));
  return stripe === 0 || stripe === stripeOfSeed(seed);
}

/** Height of the first block from `height` on that a node with this seed keeps whole. */
export function nextWholeBlock(height: number, chainHeight: number, seed: number): number {
  const stripe = stripeOfSeed(seed);
  const own = stripeOfBlock(height, chainHeight, logStripesOfSeed(seed));
  if (stripe === 0 || own === 0 || own === stripe) return height;
  const cycleBlocks = PRUNING_STRIPE_BLOCKS * 2 ** logStripesOfSeed(seed);
  const cycle = Math.floor(height / cycleBlocks) + (stripe > own ? 0 : 1);
  const next = cycle * cycleBlocks + (stripe - 1) * PRUNING_STRIPE_BLOCKS;
  return Math.min(next, chainHeight - PRUNING_TIP_BLOCKS);
}

/**
 * Height of the first block from `height` on that a node with this seed has pruned. If there is none it is that of the
 * first of the newest blocks, which all nodes keep, or `chainHeight` from there on. Source: pruning.cpp
 * `get_next_pruned_block_height`.
 */
export function nextPrunedBlock(height: number, chainHeight: number, seed: number): number {
  if (seed === 0 || height + PRUNING_TIP_BLOCKS >= chainHeight) return chainHeight;
  const stripe = stripeOfSeed(seed);
  if (stripeOfBlock(height, chainHeight, logStripesOfSeed(seed)) !== stripe) return height;
  const following = (stripe % 2 ** logStripesOfSeed(seed)) + 1;
  return nextWholeBlock(height, chainHeight, pruningSeed(following, logStripesOfSeed(seed)));
}
