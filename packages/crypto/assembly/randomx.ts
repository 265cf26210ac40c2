// The parts of RandomX that are the same for every key and program.
// Source: RandomX specification (doc/specs.md), chapters 3 and 7.1.

import { initAes } from "./randomx-aes";

export { fillScratchpad, fingerprintScratchpad, generate } from "./randomx-aes";
export { fillCache } from "./randomx-argon2";
export { blake2b } from "./randomx-blake2b";
export { add, divide, multiply, squareRoot } from "./randomx-float";

/** High 64 bits of a·b, without signs. */
export function mulHigh(a: u64, b: u64): u64 {
  const a0 = a & 0xffffffff, a1 = a >> 32, b0 = b & 0xffffffff, b1 = b >> 32;
  const low = a0 * b1 + ((a0 * b0) >> 32);
  return a1 * b1 + (low >> 32) + ((a1 * b0 + (low & 0xffffffff)) >> 32);
}

/** High 64 bits of a·b, with signs. */
export function mulHighSigned(a: u64, b: u64): u64 {
  return mulHigh(a, b) - (u64(i64(a) >> 63) & b) - (u64(i64(b) >> 63) & a);
}

export function init(): void {
  initAes();
}
