import type { Checkpoint } from "./checkpoints.ts";

/** How often RandomX changes its seed, and how long a seed block must be settled; both in blocks. */
export interface SeedSchedule {
  readonly epochBlocks: number;
  readonly lagBlocks: number;
}

/**
 * What the rules need to know about the chain below the block or transaction they judge.
 *
 * A view is an immutable snapshot of one tip: facts derived from it are remembered per view object
 * (`chain-context.ts`), so take a new view after each block. The window reads exist so that judging a
 * block costs a handful of range reads; `createChainWindow` keeps those windows in memory between blocks.
 */
export interface ChainView {
  /** Number of blocks on the chain, which is the height of the block that comes next; 0 before genesis. */
  readonly height: number;
  /** Id of the top block (32 bytes); 32 zero bytes before genesis. */
  readonly topId: Uint8Array;
  /** Hard fork in force for the block that comes next. */
  readonly hardForkVersion: number;
  /** The fixed difficulty of every block, on a test chain; undefined on others. */
  readonly fixedDifficulty: bigint | undefined;
  /** When RandomX changes its seed, on test chains that change it more often; the normal one where undefined. */
  readonly seedSchedule?: SeedSchedule | undefined;
  /** Blocks that the chain must have, oldest first; none if undefined. */
  readonly checkpoints?: readonly Checkpoint[] | undefined;
  /**
   * The id (32 bytes) that the block at a height must have, if it is known beforehand: such a block needs no proofs. If
   * left out, no block is known.
   */
  readonly knownBlockId?: ((height: number) => Uint8Array | undefined) | undefined;
  /** Coins generated up to and including the top block (atomic units, never above 2^64 - 1). */
  readonly alreadyGenerated: bigint;
  /** Cumulative difficulty of the top block; 0n before genesis. */
  readonly cumulativeDifficulty: bigint;
  /** Median of the long-term weights of the last 100,000 blocks, or of all if fewer; 0 before genesis. */
  readonly longTermWeightMedian: number;

  /** Timestamps (Unix seconds) of the last `count` blocks, or of all if fewer; oldest first. */
  recentTimestamps(count: number): readonly number[];
  /** Cumulative difficulties of the last `count` blocks, or of all if fewer; oldest first. */
  recentCumulativeDifficulties(count: number): readonly bigint[];
  /** Weights (bytes) of the last `count` blocks, or of all if fewer; oldest first. */
  recentWeights(count: number): readonly number[];

  /** Id (32 bytes) of the block at a height below `height`. */
  blockId(height: number): Uint8Array;
  /** True when a transaction with this id is in a block of this chain. */
  hasTransaction(id: Uint8Array): boolean;
  /** True when this key image (32 bytes) is spent on this chain. */
  isKeyImageSpent(keyImage: Uint8Array): boolean;
  /** Number of outputs of one amount (atomic units); amount 0n counts every RingCT output. */
  outputCount(amount: bigint): bigint;
  /** The outputs of one amount at these global indices, in their order; undefined where there is none. */
  outputs(amount: bigint, globalIndices: readonly bigint[]): readonly (ChainOutput | undefined)[];
}

/** An output on the chain, as a ring refers to it. */
export interface ChainOutput {
  /** One-time public key (32 bytes). */
  readonly key: Uint8Array;
  /** Pedersen commitment (32 bytes); for an output with a visible amount, G + amount·H. */
  readonly commitment: Uint8Array;
  /** Height of the block that holds it. */
  readonly height: number;
  /** `unlock_time` of its transaction: a height below 500,000,000, else Unix seconds. */
  readonly unlockTime: bigint;
}

/** What the rules need to know of the pool. */
export interface PoolView {
  /** True when another pool transaction spends this key image (32 bytes). */
  isKeyImageInPool(keyImage: Uint8Array): boolean;
}
