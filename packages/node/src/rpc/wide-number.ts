const LOW_64 = (1n << 64n) - 1n;

/** A 128-bit number as the RPC shows it: low half, high half, and all of it in hexadecimal. */
export function splitWide(value: bigint): {
  readonly low: bigint;
  readonly high: bigint;
  readonly hex: string;
} {
  return { low: value & LOW_64, high: value >> 64n, hex: `0x${value.toString(16)}` };
}

/** The three fields of a difficulty. */
export function difficultyFields(value: bigint) {
  const { low, high, hex } = splitWide(value);
  return { difficulty: low, difficulty_top64: high, wide_difficulty: hex };
}

/** The three fields of a cumulative difficulty. */
export function cumulativeDifficultyFields(value: bigint) {
  const { low, high, hex } = splitWide(value);
  return { cumulative_difficulty: low, cumulative_difficulty_top64: high, wide_cumulative_difficulty: hex };
}
