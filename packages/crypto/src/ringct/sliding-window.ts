/**
 * Scalars that the original never reduced, as it reads them: the sliding window of ref10 sees 256 bits, and
 * a carry out of the highest is lost. Mainnet holds such scalars in Borromean proofs.
 * Source: crypto-ops.c `slide`; https://github.com/monero-project/monero/issues/8438.
 */
import { scReduce32, scReduce64, scSub } from "../scalar.ts";

const BITS = 256;
const LARGEST_DIGIT = 15;
const WIDTH = 6;

/** 2^256 mod ℓ. */
const LOST = scReduce64(new Uint8Array(64).fill(1, 32, 33));

/** The scalar (32 bytes, below ℓ) by which ref10 multiplies for any 32 bytes. */
export function slidingWindowScalar(bytes: Uint8Array): Uint8Array {
  const value = scReduce32(bytes);
  return losesCarry(bytes) ? scSub(value, LOST) : value;
}

/** Only numbers from 2^255 on can carry so far. */
function losesCarry(bytes: Uint8Array): boolean {
  if (bytes[31]! < 0x80) return false;
  const digits = Int8Array.from({ length: BITS }, (_, i) => (bytes[i >> 3]! >> (i & 7)) & 1);
  let isLost = false;
  for (let at = 0; at < BITS; at++) {
    if (digits[at] !== 0 && widenDigit(digits, at)) isLost = true;
  }
  return isLost;
}

/** Takes the digits above into this one while it stays within ±15; true where a carry falls off the end. */
function widenDigit(digits: Int8Array, at: number): boolean {
  let isLost = false;
  for (let above = at + 1; above <= at + WIDTH && above < BITS; above++) {
    const part = digits[above]! << (above - at);
    if (part === 0) continue;
    if (digits[at]! + part <= LARGEST_DIGIT) {
      digits[at]! += part;
      digits[above] = 0;
    } else if (digits[at]! - part >= -LARGEST_DIGIT) {
      digits[at]! -= part;
      if (carryFrom(digits, above)) isLost = true;
    } else break;
  }
  return isLost;
}

/** Adds one at this place; true where no zero is left above to take it. */
function carryFrom(digits: Int8Array, from: number): boolean {
  const free = digits.indexOf(0, from);
  digits.fill(0, from, free === -1 ? BITS : free);
  if (free !== -1) digits[free] = 1;
  return free === -1;
}
