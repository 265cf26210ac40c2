import { medianOfSorted } from "./median.ts";

/** Median of the newest `capacity` values: the oldest leaves when a new one comes. */
export interface RollingMedian {
  push(value: number): void;
  median(): number;
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

/** Starts a rolling median with values, oldest first. One push moves at most 2 × 8 × `capacity` bytes. */
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
      if (values.length === capacity) {
        remove(values, arrivals[values.oldest]!);
        values.oldest = (values.oldest + 1) % capacity;
      }
      arrivals[(values.oldest + values.length) % capacity] = value;
      insert(values, value);
    },
    median: () => medianOfSorted(sorted, values.length),
    copy: () => rollingMedianOf({ ...values, arrivals: arrivals.slice(), sorted: sorted.slice() }),
  };
}

function insert(values: Values, value: number): void {
  const at = lowerBound(values, value);
  values.sorted.copyWithin(at + 1, at, values.length);
  values.sorted[at] = value;
  values.length++;
}

function remove(values: Values, value: number): void {
  const at = lowerBound(values, value);
  values.sorted.copyWithin(at, at + 1, values.length);
  values.length--;
}

/** Index of the first of the sorted values that is not below `value`. */
function lowerBound({ sorted, length }: Values, value: number): number {
  let low = 0;
  let high = length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (sorted[middle]! < value) low = middle + 1;
    else high = middle;
  }
  return low;
}
