// The parts of RandomX that are the same for every key and program.
// Source: RandomX specification (doc/specs.md), chapters 3 and 7.1.

import { mulHigh as unsignedHigh } from "./high-product";
import { initAes } from "./randomx-aes";

export { fillScratchpad, fingerprintScratchpad, generate, mixRegisters } from "./randomx-aes";
export { fillCache } from "./randomx-argon2";
export { blake2b } from "./randomx-blake2b";
export { add, divide, multiply, squareRoot } from "./randomx-float";

export function mulHigh(a: u64, b: u64): u64 {
  return unsignedHigh(a, b);
}

/** High 64 bits of a·b, with signs. */
export function mulHighSigned(a: u64, b: u64): u64 {
  return unsignedHigh(a, b) - (u64(i64(a) >> 63) & b) - (u64(i64(b) >> 63) & a);
}

export function init(): void {
  initAes();
}
