/**
 * Numbers every node must agree on: changing one splits the chain.
 * Source: cryptonote_config.h.
 */

/** Blocks whose median timestamp a new block may not be older than. */
export const TIMESTAMP_WINDOW = 60;
/** Seconds a block's timestamp may lie ahead of the local clock. */
export const FUTURE_TIME_LIMIT_SECONDS = 2 * 60 * 60;

/** Blocks that the difficulty is computed from, after the lag. */
export const DIFFICULTY_WINDOW = 720;
/** Newest blocks that the difficulty ignores. */
const DIFFICULTY_LAG = 15;
/** Outliers dropped at each end of the sorted timestamps. */
export const DIFFICULTY_CUT = 60;
/** Blocks read to find the next difficulty. */
export const DIFFICULTY_BLOCKS = DIFFICULTY_WINDOW + DIFFICULTY_LAG;

/** Blocks of the short-term weight median. */
export const REWARD_WINDOW = 100;
/** Blocks of the long-term weight median. */
export const LONG_TERM_WINDOW = 100_000;
/** Weight (bytes) every block may have without penalty from hard fork 5. */
export const PENALTY_FREE_ZONE = 300_000;
/** How often the short-term median may exceed the long-term one. */
export const SURGE_FACTOR = 50;
/** Weight (bytes) kept free for the miner transaction. */
export const MINER_TRANSACTION_RESERVE = 600;

/** Blocks before a miner may spend his reward. */
export const MINER_UNLOCK_BLOCKS = 60;
/** Blocks before any output may be spent. */
export const SPENDABLE_AGE = 10;
/** Blocks by which a locked output may be spent early. */
export const UNLOCK_LEEWAY_BLOCKS = 1;

/** Bytes of the largest transaction that is read. */
export const MAX_TRANSACTION_SIZE = 1_000_000;
/** Bytes of `tx_extra` that the pool accepts. Source: cryptonote_config.h MAX_TX_EXTRA_SIZE. */
export const MAX_POOL_EXTRA_SIZE = 1060;
/** Outputs a Bulletproofs or Bulletproofs+ proof may cover. */
export const MAX_PROVEN_OUTPUTS = 16;

/**
 * The first hard fork whose blocks the second version of RandomX hashes. Monero's releases have no such fork yet; 17 is
 * proposed (monero-project/monero, pull request 10038).
 */
export const RANDOMX_2_FORK = Number.POSITIVE_INFINITY;
