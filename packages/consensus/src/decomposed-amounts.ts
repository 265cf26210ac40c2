/**
 * True for an amount (atomic units) of one digit and zeros, as outputs had before RingCT: 1 to 9 times a
 * power of ten, up to 10^19. Source: cryptonote_format_utils.cpp `is_valid_decomposed_amount`.
 */
export function isDecomposedAmount(amount: bigint): boolean {
  return amount < 2n ** 64n && /^[1-9]0*$/.test(amount.toString());
}
