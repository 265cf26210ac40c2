// Floating point in the four rounding modes, from operations that only round to nearest.
// The rounding error of each operation is a double or its sign is: Knuth's TwoSum for sums, Dekker's product for the
// others. Its sign tells whether the neighbour is the right answer. Modes: 0 nearest, 1 down, 2 up, 3 to zero.
// Source: RandomX specification 4.3; Dekker, "A floating-point technique for extending the available precision" (1971).
// Operands are such that nothing underflows; only the multiplicative registers, all positive, can reach infinity.

const pool: usize = memory.data<u64>([
  1, 1, 0x8000000000000000, 0x8000000000000000, 0x000fffffffffffff, 0x000fffffffffffff,
  0x3ff0000000000000, 0x3ff0000000000000, 0x7ff0000000000000, 0x7ff0000000000000,
  0x41a0000002000000, 0x41a0000002000000, 0x001fffffffffffff, 0x001fffffffffffff,
  0x3fe0000000000000, 0x3fe0000000000000], 16);

// @ts-ignore: decorator
@inline function one(): v128 { return v128.load(pool); }
// @ts-ignore: decorator
@inline function signBits(): v128 { return v128.load(pool, 16); }
// @ts-ignore: decorator
@inline function fractionBits(): v128 { return v128.load(pool, 32); }
/** The double 1.0. */
// @ts-ignore: decorator
@inline function unity(): v128 { return v128.load(pool, 48); }
// @ts-ignore: decorator
@inline function infinity(): v128 { return v128.load(pool, 64); }
/** 2^27 + 1, which splits a double into halves of 26 bits. */
// @ts-ignore: decorator
@inline function splitter(): v128 { return v128.load(pool, 80); }

// @ts-ignore: decorator
@inline function zero(): v128 { return f64x2.splat(0); }

/** a + b. A difference is a + (−b), also in its signs of zero. */
export function add(a: v128, b: v128, mode: i32): v128 {
  const sum = f64x2.add(a, b);
  if (mode == 0) return sum;
  const part = f64x2.sub(sum, a);
  const error = f64x2.add(f64x2.sub(a, f64x2.sub(sum, part)), f64x2.sub(b, part));
  const negative = f64x2.lt(sum, zero()); // a sum of −0 is exact
  const away = v128.or(negative, one()); // one unit upwards, read as an integer
  if (mode == 2) return i64x2.add(sum, v128.and(away, f64x2.gt(error, zero())));
  if (mode == 3) {
    const opposite = v128.xor(f64x2.lt(error, zero()), negative);
    return i64x2.add(sum, v128.and(f64x2.ne(error, zero()), opposite));
  }
  const down = i64x2.sub(sum, v128.and(away, f64x2.lt(error, zero())));
  // x − x is −0 when rounding down; only +0 + +0 stays +0.
  return v128.or(down, v128.and(f64x2.eq(sum, zero()), v128.and(v128.or(a, b), signBits())));
}

/** The exact a·b − product, for operands far from overflow and underflow. */
// @ts-ignore: decorator
@inline function productError(a: v128, b: v128, product: v128): v128 {
  const ca = f64x2.mul(splitter(), a), cb = f64x2.mul(splitter(), b);
  const ah = f64x2.sub(ca, f64x2.sub(ca, a)), bh = f64x2.sub(cb, f64x2.sub(cb, b));
  const al = f64x2.sub(a, ah), bl = f64x2.sub(b, bh);
  const rest = f64x2.sub(f64x2.sub(f64x2.sub(product, f64x2.mul(ah, bh)), f64x2.mul(al, bh)), f64x2.mul(ah, bl));
  return f64x2.sub(f64x2.mul(al, bl), rest);
}

/** A positive number with its exponent set to zero. */
// @ts-ignore: decorator
@inline function significand(x: v128): v128 {
  return v128.or(v128.and(x, fractionBits()), unity());
}

/** The positive `nearest` corrected by the sign of `error`; `first` tells an overflow from an infinite operand. */
// @ts-ignore: decorator
@inline function correct(nearest: v128, error: v128, first: v128, mode: i32): v128 {
  const overflow = f64x2.eq(nearest, infinity());
  if (mode == 2) return i64x2.sub(nearest, v128.andnot(f64x2.gt(error, zero()), overflow));
  return i64x2.add(nearest, v128.bitselect(f64x2.ne(first, infinity()), f64x2.lt(error, zero()), overflow));
}

/** a·b of a positive number and one between 1 and 2^32, which can be split as it is. */
export function multiply(a: v128, b: v128, mode: i32): v128 {
  const product = f64x2.mul(a, b);
  if (mode == 0) return product;
  const x = significand(a);
  return correct(product, productError(x, b, f64x2.mul(x, b)), a, mode);
}

/** a/b of positive numbers. */
export function divide(a: v128, b: v128, mode: i32): v128 {
  const quotient = f64x2.div(a, b);
  if (mode == 0) return quotient;
  const x = significand(a), y = significand(b), q = f64x2.div(x, y), product = f64x2.mul(q, y);
  const rest = f64x2.sub(f64x2.sub(x, product), productError(q, y, product));
  return correct(quotient, rest, a, mode);
}

/** √a of positive numbers. */
export function squareRoot(a: v128, mode: i32): v128 {
  const root = f64x2.sqrt(a);
  if (mode == 0) return root;
  // Keeps the exponent's parity: the number scaled by a power of 4 into [½, 2).
  const x = i64x2.add(v128.and(a, v128.load(pool, 96)), v128.load(pool, 112));
  const q = f64x2.sqrt(x), product = f64x2.mul(q, q);
  const rest = f64x2.sub(f64x2.sub(x, product), productError(q, q, product));
  return correct(root, rest, a, mode);
}
