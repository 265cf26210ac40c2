import { medianOfSorted } from "./median.ts";

/** Median of the newest `capacity` values: adding a value removes the oldest. */
export interface RollingMedian {
  push(value: number): void;
  /** Undoes the newest push; `older` is the value that it removed, undefined if it removed none. */
  pop(older: number | undefined): void;
  median(): number;
  /** The median after `count` pushes of 0, which are not made. */
  medianAfterZeros(count: number): number;
  /** An independent copy. */
  copy(): RollingMedian;
}

/** The values in the order of arrival, in a circular buffer, and the same values in ascending order. */
interface Values {
  arrivals: Float64Array;
  sorted: Float64Array;
  length: number;
  /** Index of the oldest value in `arrivals`. */
  oldest: number;
}

/**
 * Creates a rolling median of values, oldest first. One push moves at most 8 × `capacity` bytes, and none between equal
 * values.
 */
export function createRollingMedian(capacity: number, values: Iterable<number> = []): RollingMedian {
  const all = values instanceof Float64Array ? values : Float64Array.from(values);
  const newest = all.slice(-capacity);
  const arrivals = new Float64Array(capacity);
  arrivals.set(newest);
  const sorted = new Float64Array(capacity);
  sorted.set(newest.sort());
  return rollingMedianOf({ arrivals, sorted, length: newest.length, oldest: 0 });
}

function rollingMedianOf(values: Values): RollingMedian {
  const { arrivals, sorted } = values;
  const capacity = arrivals.length;
  return {
    push(value) {
      if (values.length < capacity) {
        arrivals[(values.oldest + values.length) % capacity] = value;
        insert(values, value);
        return;
      }
      replace(values, arrivals[values.oldest]!, value);
      arrivals[values.oldest] = value;
      values.oldest = (values.oldest + 1) % capacity;
    },
    pop(older) {
      if (values.length === 0) throw new RangeError("there is no value to take back");
      remove(values, arrivals[(values.oldest + values.length - 1) % capacity]!);
      if (older === undefined) return;
      values.oldest = (values.oldest + capacity - 1) % capacity;
      arrivals[values.oldest] = older;
      insert(values, older);
    },
    median: () => medianOfSorted(sorted, values.length),
    medianAfterZeros: (count) => medianAfterZeros(values, Math.min(count, capacity)),
    copy: () => rollingMedianOf({ ...values, arrivals: arrivals.slice(), sorted: sorted.slice() }),
  };
}

/** Zeros take the first ranks, and the oldest values are removed to make room. */
function medianAfterZeros(values: Values, zeros: number): number {
  const { arrivals, length, oldest } = values;
  const capacity = arrivals.length;
  const leaving = Float64Array.from(
    { length: Math.max(0, length + zeros - capacity) },
    (_, i) => arrivals[(oldest + i) % capacity]!,
  ).sort();
  const total = length - leaving.length + zeros;
  const valueOfRank = (rank: number) => (rank < zeros ? 0 : rankWithout(values, leaving, rank - zeros));
  const middle = total >> 1;
  const pair = total % 2 === 1 ? [middle] : [middle - 1, middle];
  return total === 0 ? 0 : medianOfSorted(Float64Array.from(pair, valueOfRank), pair.length);
}

/** The value of a rank among the sorted values without `leaving` (ascending, each one of them). */
function rankWithout(values: Values, leaving: Float64Array, rank: number): number {
  let index = rank;
  for (const value of leaving) {
    if (lowerBound(values, value) > index) break;
    index++;
  }
  return values.sorted[index]!;
}

/** Inserts after equal values, so that few of many equal values are moved. */
function insert(values: Values, value: number): void {
  const at = upperBound(values, value);
  values.sorted.copyWithin(at + 1, at, values.length);
  values.sorted[at] = value;
  values.length++;
}

function remove(values: Values, value: number): void {
  const at = lowerBound(values, value);
  values.sorted.copyWithin(at, at + 1, values.length);
  values.length--;
}

/** Replaces one value by another: only the values between the two are moved. */
function replace(values: Values, old: number, value: number): void {
  const { sorted } = values;
  if (value > old) {
    const from = upperBound(values, old) - 1;
    const end = lowerBound(values, value);
    sorted.copyWithin(from, from + 1, end);
    sorted[end - 1] = value;
  } else if (value < old) {
    const at = upperBound(values, value);
    sorted.copyWithin(at + 1, at, lowerBound(values, old));
    sorted[at] = value;
  }
}

/** Index of the first of the sorted values that is not below `value`. */
function lowerBound(values: Values, value: number): number {
  return countWhile(values, (other) => other < value);
}

/** Index of the first of the sorted values that is above `value`. */
function upperBound(values: Values, value: number): number {
  return countWhile(values, (other) => other <= value);
}

/** Number of sorted values before the first for which `isBefore` is false. */
function countWhile({ sorted, length }: Values, isBefore: (other: number) => boolean): number {
  let low = 0;
  let high = length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (isBefore(sorted[middle]!)) low = middle + 1;
    else high = middle;
  }
  return low;
}
