import { DIFFICULTY_BLOCKS, LONG_TERM_WINDOW } from "./constants.ts";
import { createRollingMedian } from "./rolling-median.ts";

/** What a block leaves behind for the rules of the blocks above it. */
export interface BlockFacts {
  /** Unix seconds. */
  timestamp: number;
  cumulativeDifficulty: bigint;
  /** Bytes. */
  weight: number;
  /** Bytes. */
  longTermWeight: number;
}

/** Reads the facts of the blocks [from, to), oldest first. */
export type ReadBlockFacts = (from: number, to: number) => Iterable<BlockFacts>;
/** Reads the long-term weights (bytes) of the blocks [from, to), oldest first. */
export type ReadLongTermWeights = (from: number, to: number) => Iterable<number>;

/**
 * The windows below the tip, kept in memory: appending a block costs no read, so a chain view made from
 * it answers the window questions of `ChainView` without the database. Popping blocks reads again.
 */
export interface ChainWindow {
  /** Number of blocks seen. */
  readonly height: number;
  readonly longTermWeightMedian: number;
  /** The median (bytes) after so many blocks without weight, which fee estimates reckon with. */
  longTermWeightMedianAfterEmpty(blocks: number): number;
  recentTimestamps(count: number): number[];
  recentCumulativeDifficulties(count: number): bigint[];
  recentWeights(count: number): number[];
  append(block: BlockFacts): void;
}

/** Loads the windows of a chain of `height` blocks. */
export function createChainWindow(
  height: number,
  readFacts: ReadBlockFacts,
  readLongTermWeights: ReadLongTermWeights,
): ChainWindow {
  const recent = [...readFacts(Math.max(0, height - DIFFICULTY_BLOCKS), height)];
  const longTerm = createRollingMedian(
    LONG_TERM_WINDOW,
    readLongTermWeights(Math.max(0, height - LONG_TERM_WINDOW), height),
  );
  let blocks = height;
  return {
    get height() {
      return blocks;
    },
    get longTermWeightMedian() {
      return longTerm.median();
    },
    longTermWeightMedianAfterEmpty(count) {
      const copy = longTerm.copy();
      for (let i = 0; i < count; i++) copy.push(0);
      return copy.median();
    },
    recentTimestamps: (count) => last(recent, count, (block) => block.timestamp),
    recentCumulativeDifficulties: (count) => last(recent, count, (block) => block.cumulativeDifficulty),
    recentWeights: (count) => last(recent, count, (block) => block.weight),
    append(block) {
      recent.push(block);
      if (recent.length > DIFFICULTY_BLOCKS) recent.shift();
      longTerm.push(block.longTermWeight);
      blocks++;
    },
  };
}

function last<T>(blocks: readonly BlockFacts[], count: number, pick: (block: BlockFacts) => T): T[] {
  if (count > DIFFICULTY_BLOCKS)
    throw new RangeError(`the window holds ${DIFFICULTY_BLOCKS} blocks, not ${count}`);
  return blocks.slice(Math.max(0, blocks.length - count)).map(pick);
}
