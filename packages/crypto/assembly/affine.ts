/** Dividing by Z, many points with one inversion (Montgomery's trick). Every Z must be nonzero. */
import { copy, mul, toBytes } from "./fe";
import { ONE, invert, oddLanes } from "./field";
import { PT, T, X, Y, Z, scatterAffine, toAffine } from "./point";

const U: usize = memory.data(160, 16), V: usize = memory.data(160, 16), SUMMAND: usize = memory.data(3 * 160, 16);

/** Brings `count` two-lane points, PT bytes apart, to Z = 1. */
export function normalizeBatch(points: usize, count: i32): void {
  copy(V, ONE);
  for (let i = 0; i < count; ++i) {
    const p = points + PT * i;
    copy(p + T, V);
    mul(V, V, p + Z);
  }
  invert(V, V);
  for (let i = count - 1; i >= 0; --i) {
    const p = points + PT * i;
    mul(U, V, p + T); // 1/Z
    mul(V, V, p + Z);
    mul(p + X, p + X, U);
    mul(p + Y, p + Y, U);
    copy(p + Z, ONE);
    mul(p + T, p + X, p + Y);
  }
}

/**
 * Stores normalized two-lane points as affine summands: lane 0 to even, lane 1 to odd, each `stride` bytes further
 * from point to point.
 */
export function storeSummands(even: usize, odd: usize, stride: usize, points: usize, count: i32): void {
  for (let i = 0; i < count; ++i) {
    toAffine(SUMMAND, points + PT * i);
    scatterAffine(even + stride * i, odd + stride * i, SUMMAND);
  }
}

/** Encodes both lanes of a normalized point to 64 bytes. */
export function encodeNormalized(out: usize, p: usize): void {
  const odd = oddLanes(p + X);
  toBytes(out, out + 32, p + Y);
  store<u8>(out, load<u8>(out, 31) | ((odd & 1) << 7), 31);
  store<u8>(out, load<u8>(out, 63) | ((odd >> 1) << 7), 63);
}
