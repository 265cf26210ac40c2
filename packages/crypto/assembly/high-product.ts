/** High 64 bits of a·b, without signs, from products of 32-bit halves. */
// @ts-ignore: decorator
@inline export function mulHigh(a: u64, b: u64): u64 {
  const a0 = a & 0xffffffff, a1 = a >> 32, b0 = b & 0xffffffff, b1 = b >> 32;
  const low = a0 * b1 + ((a0 * b0) >> 32);
  return a1 * b1 + (low >> 32) + ((a1 * b0 + (low & 0xffffffff)) >> 32);
}
