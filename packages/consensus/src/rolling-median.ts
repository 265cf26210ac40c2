import { medianOfSorted } from "./median.ts";

/** Median of the newest `capacity` values: the oldest leaves when a new one comes. */
export interface RollingMedian {
  push(value: number): void;
  /** Undoes the newest push; `older` is the value that left by it, undefined where none did. */
  pop(older: number | undefined): void;
  median(): number;
  /** The median after so many pushes of 0, which are not made. */
  medianAfterZeros(count: number): number;
  /** One that goes its own way from here. */
  copy(): RollingMedian;
}

/** The values in the order they came, round a ring, and the same values in ascending order. */
interface Values {
  arrivals: Float64Array;
  sorted: Float64Array;
  length: number;
  /** Where in `arrivals` the oldest is. */
  oldest: number;
}

/** Starts a rolling median with values, oldest first. One push moves at most 8 × `capacity` bytes, between equal values none. */
export function createRollingMedian(capacity: number, values: Iterable<number> = []): RollingMedian {
  const newest = Float64Array.from(values).slice(-capacity);
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

/** Zeros take the first ranks, and the oldest values leave where there is no room for them. */
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

/** The value of a rank among the sorted values when `leaving` (ascending, each one of them) are gone. */
function rankWithout(values: Values, leaving: Float64Array, rank: number): number {
  let index = rank;
  let repeated = 0;
  for (const [i, value] of leaving.entries()) {
    repeated = i > 0 && leaving[i - 1] === value ? repeated + 1 : 0;
    if (lowerBound(values, value) + repeated > index) break;
    index++;
  }
  return values.sorted[index]!;
}

/** Behind its equals: of many equal values few are moved. */
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

/** One value for another: only those between the two move. */
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

/** How many of the sorted values come before the first that does not pass. */
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
