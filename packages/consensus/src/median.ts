/**
 * Median of whole numbers, the mean of the middle two rounded down; 0 for an empty list. Source: epee misc_language.h
 * `median`, `get_mid`.
 */
export function median(values: readonly number[]): number {
  return medianOfSorted(Float64Array.from(values).sort(), values.length);
}

/** Median of the first `length` of ascending values. */
export function medianOfSorted(sorted: Float64Array, length: number): number {
  if (length === 0) return 0;
  const middle = length >> 1;
  const upper = sorted[middle]!;
  return length % 2 === 1 ? upper : midpoint(sorted[middle - 1]!, upper);
}

/** floor((a + b) / 2) of whole numbers, whose sum may exceed 2^53. */
function midpoint(low: number, high: number): number {
  return low + Math.floor((high - low) / 2);
}
