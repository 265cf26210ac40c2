/** Whether IMUL_RCP does nothing with this 32-bit divisor. Source: RandomX specification 5.2.6. */
export const isZeroOrPowerOfTwo = (divisor: number): boolean => (divisor & (divisor - 1)) === 0;

/** ⌊2^x / divisor⌋ with the largest x that keeps it below 2^64. */
export function reciprocal(divisor: number): bigint {
  const bits = 32 - Math.clz32(divisor);
  return (1n << BigInt(63 + bits)) / BigInt(divisor >>> 0);
}
