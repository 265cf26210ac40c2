import { powerModulo } from "./integers.ts";

/** The field of curve25519: integers modulo p = 2²⁵⁵ − 19. Source: RFC 7748 §4.1. */
export const P = 2n ** 255n - 19n;

/** A square root of −1: 2^((p − 1)/4), as 2 is no square. */
export const SQRT_MINUS_ONE = powerModulo(2n, (P - 1n) / 4n, P);

/** The representative in 0 … p − 1. */
export function reduce(value: bigint): bigint {
  const rest = value % P;
  return rest < 0n ? rest + P : rest;
}

/** 1/value; 0 for 0, as in the reference implementation. */
export function invert(value: bigint): bigint {
  return powerModulo(reduce(value), P - 2n, P);
}

/** The even one of the two square roots, or undefined for a non-square. */
export function squareRoot(value: bigint): bigint | undefined {
  const square = reduce(value);
  const candidate = powerModulo(square, (P + 3n) / 8n, P); // right up to a factor √−1, as p ≡ 5 (mod 8)
  for (const root of [candidate, reduce(candidate * SQRT_MINUS_ONE)]) {
    if (reduce(root * root) === square) return isOdd(root) ? P - root : root;
  }
  return undefined;
}

/** The "sign" of a reduced element: its lowest bit. */
export function isOdd(value: bigint): boolean {
  return (value & 1n) === 1n;
}
