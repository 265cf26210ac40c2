/** Signed digit expansions of scalars (32 bytes, little-endian, < 2^255), and the masks by which secret digits choose. */
import { elementMask } from "./fe";

/**
 * Writes 256 bytes: width-w non-adjacent form, digits odd in (−2^(w−1), 2^(w−1)) or 0. Time depends on the scalar.
 * Returns the index of the highest nonzero digit, −1 for 0.
 */
export function nonAdjacentForm(out: usize, scalar: usize, width: i32): i32 {
  memory.fill(out, 0, 256);
  const full = 1 << width, half = full >> 1;
  let top = -1, carry = 0, bit = 0;
  while (bit < 256) {
    // A window over the end reads bits of the following memory: cut them off.
    const room = 256 - bit, word = load<u32>(scalar + (bit >> 3)) >> (bit & 7);
    let window = <i32>(word & (<u32>full - 1));
    if (room < width) window &= (1 << room) - 1;
    window += carry;
    if ((window & 1) == 0) {
      bit += 1; // a carry stays until it meets a 0 bit, where window is odd
      continue;
    }
    carry = i32(window > half);
    if (carry) window -= full;
    store<i8>(out + bit, <i8>window);
    top = bit;
    bit += width;
  }
  return top;
}

/** Writes 64 digits in [−8, 8), least first (the last in [0, 8]): radix 16, without branches. */
export function radix16(out: usize, scalar: usize): void {
  let carry: i32 = 0;
  for (let i: usize = 0; i < 64; ++i) {
    const digit = ((<i32>load<u8>(scalar + (i >> 1)) >> (4 * (<i32>i & 1))) & 15) + carry;
    carry = i < 63 ? (digit + 8) >> 4 : 0;
    store<i8>(out + i, <i8>(digit - (carry << 4)));
  }
}

/** Writes 52 digits in [−16, 16], least first: radix 32, without branches. */
export function radix32(out: usize, scalar: usize): void {
  let carry: i32 = 0;
  for (let i = 0; i < 52; ++i) {
    const at = (5 * i) >> 3;
    let word: i32 = at < 32 ? <i32>load<u8>(scalar + at) : 0;
    if (at < 31) word |= <i32>load<u8>(scalar + at, 1) << 8;
    const digit = ((word >> ((5 * i) & 7)) & 31) + carry;
    carry = i < 51 ? (digit + 16) >> 5 : 0;
    store<i8>(out + i, <i8>(digit - (carry << 5)));
  }
}

/** Nine masks: the j-th is set in the lanes whose digit has size j. */
export const DIGIT_MASKS: usize = memory.data(9 * 16, 16);
const LANE_ONE: usize = memory.data<i64>([1]);

/** Writes DIGIT_MASKS for the sizes (0 … 8) of the digits of lane 0 and lane 1, without branches. */
export function writeDigitMasks(size0: i32, size1: i32): void {
  const zero = i64x2.splat(0), one = i64x2.splat(load<i64>(LANE_ONE)); // a constant vector would be rebuilt at each use
  let left = i64x2.replace_lane(i64x2.splat(<i64>size0), 1, <i64>size1);
  for (let j: usize = 0; j < 9 * 16; j += 16) {
    v128.store(DIGIT_MASKS + j, elementMask(i64x2.eq(left, zero)));
    left = i64x2.sub(left, one);
  }
}

/** Overwrites what secret digits leave. */
export function wipeDigits(): void {
  memory.fill(DIGIT_MASKS, 0, 9 * 16);
}
