import { DIFFICULTY_BLOCKS, LONG_TERM_WINDOW } from "./constants.ts";
import { medianOfSorted } from "./median.ts";

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

/** Median of the newest `capacity` values: the oldest leaves when a new one comes. */
export interface RollingMedian {
  push(value: number): void;
  median(): number;
}

/** Starts a rolling median with values, oldest first. One push moves at most 2 × 8 × `capacity` bytes. */
export function createRollingMedian(capacity: number, values: Iterable<number> = []): RollingMedian {
  const newest = [...values].slice(-capacity);
  const arrivals = new Float64Array(capacity);
  arrivals.set(newest);
  const sorted = new Float64Array(capacity);
  sorted.set(Float64Array.from(newest).sort());
  let length = newest.length;
  let oldest = 0;

  const insert = (value: number) => {
    const at = lowerBound(sorted, length, value);
    sorted.copyWithin(at + 1, at, length);
    sorted[at] = value;
    length++;
  };
  const remove = (value: number) => {
    const at = lowerBound(sorted, length, value);
    sorted.copyWithin(at, at + 1, length);
    length--;
  };
  return {
    push(value) {
      if (length < capacity) {
        arrivals[(oldest + length) % capacity] = value;
      } else {
        remove(arrivals[oldest]!);
        arrivals[oldest] = value;
        oldest = (oldest + 1) % capacity;
      }
      insert(value);
    },
    median: () => medianOfSorted(sorted, length),
  };
}

/** Index of the first of the `length` ascending values that is not below `value`. */
function lowerBound(sorted: Float64Array, length: number, value: number): number {
  let low = 0;
  let high = length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (sorted[middle]! < value) low = middle + 1;
    else high = middle;
  }
  return low;
}
