/** Element-wise arithmetic mod ℓ over n scalars of 32 bytes. */
import { SCALAR_ONE, SCALAR_ZERO, scAdd, scInvert, scIsZero, scMul, scMulAdd, scReduce32, scSub } from "./scalar";
import { alloc, arenaMark, arenaRewind } from "./arena";

export function vectorAdd(o: usize, a: usize, b: usize, n: i32): void {
  for (let end = o + 32 * n; o < end; o += 32, a += 32, b += 32) scAdd(o, a, b);
}

export function vectorSub(o: usize, a: usize, b: usize, n: i32): void {
  for (let end = o + 32 * n; o < end; o += 32, a += 32, b += 32) scSub(o, a, b);
}

export function vectorMul(o: usize, a: usize, b: usize, n: i32): void {
  for (let end = o + 32 * n; o < end; o += 32, a += 32, b += 32) scMul(o, a, b);
}

/** o_i = a_i·x. */
export function vectorScale(o: usize, a: usize, x: usize, n: i32): void {
  for (let end = o + 32 * n; o < end; o += 32, a += 32) scMul(o, a, x);
}

/** o_i = a_i·x + b_i. */
export function vectorScaleAdd(o: usize, a: usize, x: usize, b: usize, n: i32): void {
  for (let end = o + 32 * n; o < end; o += 32, a += 32, b += 32) scMulAdd(o, a, x, b);
}

/** 1, x, x², … */
export function powers(o: usize, x: usize, n: i32): void {
  if (n > 0) memory.copy(o, SCALAR_ONE, 32);
  for (let i = 1; i < n; ++i) scMul(o + 32 * i, o + 32 * (i - 1), x);
}

/** o = Σ a_i·b_i. */
export function innerProduct(o: usize, a: usize, b: usize, n: i32): void {
  memory.copy(o, SCALAR_ZERO, 32);
  for (let i = 0; i < n; ++i) scMulAdd(o, a + 32 * i, b + 32 * i, o);
}

/** o_i = 1/a_i with one inversion (Montgomery's trick); returns 0 where an element is 0 mod ℓ. o ≠ a. */
export function invertBatch(o: usize, a: usize, n: i32): i32 {
  const mark = arenaMark(), rest = alloc(32), element = alloc(32);
  memory.copy(rest, SCALAR_ONE, 32);
  for (let i = 0; i < n; ++i) {
    memory.copy(o + 32 * i, rest, 32);
    scMul(rest, rest, a + 32 * i);
  }
  const isInvertible = i32(!scIsZero(rest));
  scInvert(rest, rest);
  for (let i = n - 1; i >= 0; --i) {
    scReduce32(element, a + 32 * i);
    scMul(o + 32 * i, o + 32 * i, rest);
    scMul(rest, rest, element);
  }
  arenaRewind(mark);
  return isInvertible;
}
