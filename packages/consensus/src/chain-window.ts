import { DIFFICULTY_BLOCKS, LONG_TERM_WINDOW } from "./constants.ts";
import { createRollingMedian, type RollingMedian } from "./rolling-median.ts";

/** The facts of a block that the rules for later blocks need. */
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
export type ReadBlockFacts<B extends BlockFacts = BlockFacts> = (from: number, to: number) => Iterable<B>;
/** Reads the long-term weights (bytes) of the blocks [from, to), oldest first. */
export type ReadLongTermWeights = (from: number, to: number) => Iterable<number>;

/**
 * The windows below the tip, kept in memory: appending a block costs no read and removing one costs two, so a chain
 * view made from it answers the window questions of `ChainView` without the database.
 */
export interface ChainWindow<B extends BlockFacts = BlockFacts> {
  /** Number of blocks in the chain. */
  readonly height: number;
  /** The newest block; undefined for an empty chain. */
  readonly top: B | undefined;
  readonly longTermWeightMedian: number;
  /** The median (bytes) after this many blocks without weight, which fee estimates use. */
  longTermWeightMedianAfterEmpty(blocks: number): number;
  recentTimestamps(count: number): number[];
  recentCumulativeDifficulties(count: number): bigint[];
  recentWeights(count: number): number[];
  append(block: B): void;
  /**
   * Removes the newest block; works for at most `DIFFICULTY_BLOCKS` blocks that are not on the chain of the readers.
   */
  removeTop(): void;
  /** An independent copy, which reads with these functions. */
  copy(readFacts: ReadBlockFacts<B>, readLongTermWeights: ReadLongTermWeights): ChainWindow<B>;
}

/** Loads the windows of a chain of `height` blocks. */
export function createChainWindow<B extends BlockFacts>(
  height: number,
  readFacts: ReadBlockFacts<B>,
  readLongTermWeights: ReadLongTermWeights,
): ChainWindow<B> {
  const recent = [...readFacts(Math.max(0, height - DIFFICULTY_BLOCKS), height)];
  const longTerm = createRollingMedian(
    LONG_TERM_WINDOW,
    readLongTermWeights(Math.max(0, height - LONG_TERM_WINDOW), height),
  );
  return windowOf({ recent, longTerm, height }, readFacts, readLongTermWeights);
}

interface WindowValues<B> {
  readonly recent: B[];
  readonly longTerm: RollingMedian;
  height: number;
}

function windowOf<B extends BlockFacts>(
  values: WindowValues<B>,
  readFacts: ReadBlockFacts<B>,
  readLongTermWeights: ReadLongTermWeights,
): ChainWindow<B> {
  const { recent, longTerm } = values;
  return {
    get height() {
      return values.height;
    },
    get top() {
      return recent.at(-1);
    },
    get longTermWeightMedian() {
      return longTerm.median();
    },
    longTermWeightMedianAfterEmpty: (count) => longTerm.medianAfterZeros(count),
    recentTimestamps: (count) => last(recent, count, (block) => block.timestamp),
    recentCumulativeDifficulties: (count) => last(recent, count, (block) => block.cumulativeDifficulty),
    recentWeights: (count) => last(recent, count, (block) => block.weight),
    append(block) {
      recent.push(block);
      if (recent.length > DIFFICULTY_BLOCKS) recent.shift();
      longTerm.push(block.longTermWeight);
      values.height++;
    },
    removeTop() {
      if (values.height === 0) throw new RangeError("there is no block to take off");
      const below = --values.height;
      recent.pop();
      recent.unshift(...oneAt(readFacts, below - DIFFICULTY_BLOCKS));
      const [older] = oneAt(readLongTermWeights, below - LONG_TERM_WINDOW);
      longTerm.pop(older);
    },
    copy: (facts, weights) =>
      windowOf({ recent: [...recent], longTerm: longTerm.copy(), height: values.height }, facts, weights),
  };
}

/** Reads the value of one block; undefined below genesis. */
function oneAt<T>(read: (from: number, to: number) => Iterable<T>, height: number): T[] {
  return height < 0 ? [] : [...read(height, height + 1)];
}

function last<T>(blocks: readonly BlockFacts[], count: number, pick: (block: BlockFacts) => T): T[] {
  if (count > DIFFICULTY_BLOCKS)
    throw new RangeError(`the window holds ${DIFFICULTY_BLOCKS} blocks, not ${count}`);
  return blocks.slice(Math.max(0, blocks.length - count)).map(pick);
}
