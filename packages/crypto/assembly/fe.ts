/**
 * GF(2^255 − 19), two lanes, on fused multiply-add.
 *
 * An element is 5 signed limbs of 51 bits, x = Σ x_i·2^(51 i), each limb an integer held as a double. A vector register
 * holds the same limb of two independent elements (lane 0 | lane 1), so an element pair is 5 × 16 = 80 bytes.
 *
 * Splitting a product of two integers held as doubles (after Emmart, "Faster modular exponentiation using double
 * precision floating point arithmetic on the GPU"): in h = a·b + 1.5·2^103 the last mantissa bit weighs 2^51, so the
 * bit pattern of h is a constant plus round(a·b / 2^51). Then l = a·b + ((1.5·2^103 + 1.5·2^52) − h) is exact and its
 * bit pattern is another constant plus the signed remainder. Bit patterns are summed as 64-bit integers: the high part
 * into column i+j+1, the low part into column i+j. What the constants contribute is taken off once per column.
 *
 * Bounds: a limb is "tight" when |limb| ≤ 2^50 + 2^12. mul, sq, carry return tight limbs; add and sub do not
 * carry. mul needs one tight operand and the other below 4 × tight; sq needs a tight operand. Then |a·b| < 2^102, so
 * h keeps its exponent, and a column is below 2^59, so the bias of 2^61 keeps it positive.
 *
 * Constants are loaded from memory, never written as vector literals: V8 rematerialises a v128.const at each use
 * (measured 1.7 times slower on Node 24).
 */

/** Bytes of an element pair. */
export const FE: usize = 80;
/** Bytes of one element of one lane, as stored in tables: 5 doubles. */
export const FE1: usize = 40;

/** Pairs of the same 64 bits: 1.5·2^103, 1.5·2^103 + 1.5·2^52, 2^51 − 1, bits of 2^52, 2^52 + 2^50, 2^52 + 2^50 + 19·2^10. */
const MAGIC: usize = memory.data<u64>([
  0x4668000000000000, 0x4668000000000000, 0x4668000000000003, 0x4668000000000003,
  0x0007ffffffffffff, 0x0007ffffffffffff, 0x4330000000000000, 0x4330000000000000,
  0x4334000000000000, 0x4334000000000000, 0x4334000000004c00, 0x4334000000004c00,
], 16);

/** 1.5·2^103, 2^−51, 19·2^−51 as doubles, for carries. */
const CARRY: usize = memory.data<u64>([
  0x4668000000000000, 0x4668000000000000, 0x3cc0000000000000, 0x3cc0000000000000, 0x3d03000000000000, 0x3d03000000000000,
], 16);

/**
 * What each of the ten columns starts from: minus the constants that `lows` low parts and `highs` high parts bring,
 * and for columns 0–4 the bias 2^61 + 2^50 (2^50 centres the limb; 2^61 = 2^10·2^51 reaches the next column as 2^10).
 */
const MUL_START: usize = memory.data(160, 16);
const SQ_START: usize = memory.data(160, 16);

function fillStart(start: usize, low: usize): void {
  let highs: u64 = 0;
  for (let k: usize = 0; k < 10; ++k) {
    const lows: u64 = k < 9 ? <u64>load<u8>(low + k) : 0;
    let value: u64 = -(lows * 0x4338000000000000 + highs * 0x4668000000000000);
    if (k < 5) value += (1 << 61) + (1 << 50) - (k > 0 ? 1 << 10 : 0);
    store<u64>(start + 16 * k, value);
    store<u64>(start + 16 * k, value, 8);
    highs = lows;
  }
}
fillStart(MUL_START, memory.data<u8>([1, 2, 3, 4, 5, 4, 3, 2, 1]));
fillStart(SQ_START, memory.data<u8>([1, 1, 2, 2, 3, 2, 2, 1, 1]));

@inline function high(x: v128, y: v128, m: v128): v128 { return f64x2.relaxed_madd(x, y, m); }
@inline function low(x: v128, y: v128, h: v128, m: v128): v128 { return f64x2.relaxed_madd(x, y, f64x2.sub(m, h)); }
@inline function plus(a: v128, b: v128): v128 { return i64x2.add(a, b); }
@inline function times19(a: v128): v128 {
  const nine = plus(i64x2.shl(a, 3), a);
  return plus(plus(nine, nine), a);
}

/**
 * Finished columns wait in memory, columns 5–9 folded onto 0–4 (2^255 = 19) and carried as they come. Kept in
 * locals they would make V8 spill worse: the product is 1.4 times slower that way on Node 20 (no difference on 24).
 */
const COLUMNS: usize = memory.data(80, 16);

/** From the last columns (carried column 3, whole column 9): carries the rest and stores centred doubles. */
@inline function finish(o: usize, c3: v128, c9: v128): void {
  const mask = v128.load(MAGIC, 32), two52 = v128.load(MAGIC, 48), centre = v128.load(MAGIC, 64);
  const c4 = plus(plus(v128.load(COLUMNS, 64), times19(c9)), i64x2.shr_u(c3, 51));
  const wrap = plus(times19(i64x2.shr_u(c4, 51)), two52);
  v128.store(o, f64x2.sub(plus(v128.and(v128.load(COLUMNS), mask), wrap), v128.load(MAGIC, 80)));
  v128.store(o, f64x2.sub(plus(v128.and(v128.load(COLUMNS, 16), mask), two52), centre), 16);
  v128.store(o, f64x2.sub(plus(v128.and(v128.load(COLUMNS, 32), mask), two52), centre), 32);
  v128.store(o, f64x2.sub(plus(v128.and(v128.load(COLUMNS, 48), mask), two52), centre), 48);
  v128.store(o, f64x2.sub(plus(v128.and(c4, mask), two52), centre), 64);
}

/** o = (a0…a4)·b: in column k the products of a_i·b_(k−i); c is column k, d column k + 1. */
@inline function mulLimbs(o: usize, a0: v128, a1: v128, a2: v128, a3: v128, a4: v128, b: usize): void {
  const H = v128.load(MAGIC), L = v128.load(MAGIC, 16), S = MUL_START;
  const b0 = v128.load(b), b1 = v128.load(b, 16), b2 = v128.load(b, 32), b3 = v128.load(b, 48), b4 = v128.load(b, 64);
  let c = v128.load(S), d = v128.load(S, 16), h: v128, r: v128;
  h = high(a0, b0, H); c = plus(c, low(a0, b0, h, L)); d = plus(d, h);
  v128.store(COLUMNS, c); c = d; d = v128.load(S, 32);
  h = high(a0, b1, H); c = plus(c, low(a0, b1, h, L)); d = plus(d, h);
  h = high(a1, b0, H); c = plus(c, low(a1, b0, h, L)); d = plus(d, h);
  v128.store(COLUMNS, c, 16); c = d; d = v128.load(S, 48);
  h = high(a0, b2, H); c = plus(c, low(a0, b2, h, L)); d = plus(d, h);
  h = high(a1, b1, H); c = plus(c, low(a1, b1, h, L)); d = plus(d, h);
  h = high(a2, b0, H); c = plus(c, low(a2, b0, h, L)); d = plus(d, h);
  v128.store(COLUMNS, c, 32); c = d; d = v128.load(S, 64);
  h = high(a0, b3, H); c = plus(c, low(a0, b3, h, L)); d = plus(d, h);
  h = high(a1, b2, H); c = plus(c, low(a1, b2, h, L)); d = plus(d, h);
  h = high(a2, b1, H); c = plus(c, low(a2, b1, h, L)); d = plus(d, h);
  h = high(a3, b0, H); c = plus(c, low(a3, b0, h, L)); d = plus(d, h);
  v128.store(COLUMNS, c, 48); c = d; d = v128.load(S, 80);
  h = high(a0, b4, H); c = plus(c, low(a0, b4, h, L)); d = plus(d, h);
  h = high(a1, b3, H); c = plus(c, low(a1, b3, h, L)); d = plus(d, h);
  h = high(a2, b2, H); c = plus(c, low(a2, b2, h, L)); d = plus(d, h);
  h = high(a3, b1, H); c = plus(c, low(a3, b1, h, L)); d = plus(d, h);
  h = high(a4, b0, H); c = plus(c, low(a4, b0, h, L)); d = plus(d, h);
  v128.store(COLUMNS, c, 64); c = d; d = v128.load(S, 96);
  h = high(a1, b4, H); c = plus(c, low(a1, b4, h, L)); d = plus(d, h);
  h = high(a2, b3, H); c = plus(c, low(a2, b3, h, L)); d = plus(d, h);
  h = high(a3, b2, H); c = plus(c, low(a3, b2, h, L)); d = plus(d, h);
  h = high(a4, b1, H); c = plus(c, low(a4, b1, h, L)); d = plus(d, h);
  r = plus(v128.load(COLUMNS), times19(c));
  v128.store(COLUMNS, r); c = d; d = v128.load(S, 112);
  h = high(a2, b4, H); c = plus(c, low(a2, b4, h, L)); d = plus(d, h);
  h = high(a3, b3, H); c = plus(c, low(a3, b3, h, L)); d = plus(d, h);
  h = high(a4, b2, H); c = plus(c, low(a4, b2, h, L)); d = plus(d, h);
  r = plus(plus(v128.load(COLUMNS, 16), times19(c)), i64x2.shr_u(r, 51));
  v128.store(COLUMNS, r, 16); c = d; d = v128.load(S, 128);
  h = high(a3, b4, H); c = plus(c, low(a3, b4, h, L)); d = plus(d, h);
  h = high(a4, b3, H); c = plus(c, low(a4, b3, h, L)); d = plus(d, h);
  r = plus(plus(v128.load(COLUMNS, 32), times19(c)), i64x2.shr_u(r, 51));
  v128.store(COLUMNS, r, 32); c = d; d = v128.load(S, 144);
  h = high(a4, b4, H); c = plus(c, low(a4, b4, h, L)); d = plus(d, h);
  r = plus(plus(v128.load(COLUMNS, 48), times19(c)), i64x2.shr_u(r, 51));
  v128.store(COLUMNS, r, 48); c = d;
  finish(o, r, c);
}

/** o = (a0…a4)², cross products once with a doubled operand. */
@inline function sqLimbs(o: usize, a0: v128, a1: v128, a2: v128, a3: v128, a4: v128): void {
  const H = v128.load(MAGIC), L = v128.load(MAGIC, 16), S = SQ_START;
  const d0 = f64x2.add(a0, a0), d1 = f64x2.add(a1, a1), d2 = f64x2.add(a2, a2), d3 = f64x2.add(a3, a3);
  let c = v128.load(S), d = v128.load(S, 16), h: v128, r: v128;
  h = high(a0, a0, H); c = plus(c, low(a0, a0, h, L)); d = plus(d, h);
  v128.store(COLUMNS, c); c = d; d = v128.load(S, 32);
  h = high(d0, a1, H); c = plus(c, low(d0, a1, h, L)); d = plus(d, h);
  v128.store(COLUMNS, c, 16); c = d; d = v128.load(S, 48);
  h = high(d0, a2, H); c = plus(c, low(d0, a2, h, L)); d = plus(d, h);
  h = high(a1, a1, H); c = plus(c, low(a1, a1, h, L)); d = plus(d, h);
  v128.store(COLUMNS, c, 32); c = d; d = v128.load(S, 64);
  h = high(d0, a3, H); c = plus(c, low(d0, a3, h, L)); d = plus(d, h);
  h = high(d1, a2, H); c = plus(c, low(d1, a2, h, L)); d = plus(d, h);
  v128.store(COLUMNS, c, 48); c = d; d = v128.load(S, 80);
  h = high(d0, a4, H); c = plus(c, low(d0, a4, h, L)); d = plus(d, h);
  h = high(d1, a3, H); c = plus(c, low(d1, a3, h, L)); d = plus(d, h);
  h = high(a2, a2, H); c = plus(c, low(a2, a2, h, L)); d = plus(d, h);
  v128.store(COLUMNS, c, 64); c = d; d = v128.load(S, 96);
  h = high(d1, a4, H); c = plus(c, low(d1, a4, h, L)); d = plus(d, h);
  h = high(d2, a3, H); c = plus(c, low(d2, a3, h, L)); d = plus(d, h);
  r = plus(v128.load(COLUMNS), times19(c));
  v128.store(COLUMNS, r); c = d; d = v128.load(S, 112);
  h = high(d2, a4, H); c = plus(c, low(d2, a4, h, L)); d = plus(d, h);
  h = high(a3, a3, H); c = plus(c, low(a3, a3, h, L)); d = plus(d, h);
  r = plus(plus(v128.load(COLUMNS, 16), times19(c)), i64x2.shr_u(r, 51));
  v128.store(COLUMNS, r, 16); c = d; d = v128.load(S, 128);
  h = high(d3, a4, H); c = plus(c, low(d3, a4, h, L)); d = plus(d, h);
  r = plus(plus(v128.load(COLUMNS, 32), times19(c)), i64x2.shr_u(r, 51));
  v128.store(COLUMNS, r, 32); c = d; d = v128.load(S, 144);
  h = high(a4, a4, H); c = plus(c, low(a4, a4, h, L)); d = plus(d, h);
  r = plus(plus(v128.load(COLUMNS, 48), times19(c)), i64x2.shr_u(r, 51));
  v128.store(COLUMNS, r, 48); c = d;
  finish(o, r, c);
}

/** The multiple of 2^51 nearest to x: adding 1.5·2^103 rounds it there. */
@inline function nearest(x: v128, m: v128): v128 { return f64x2.sub(f64x2.add(x, m), m); }

/** Stores the limbs carried once, all in parallel: |limb| < 2^53 in, at most 2^50 + 2^7 out. */
@inline function storeCarried(o: usize, x0: v128, x1: v128, x2: v128, x3: v128, x4: v128): void {
  const m = v128.load(CARRY), unit = v128.load(CARRY, 16);
  const q0 = nearest(x0, m), q1 = nearest(x1, m), q2 = nearest(x2, m), q3 = nearest(x3, m), q4 = nearest(x4, m);
  v128.store(o, f64x2.relaxed_madd(q4, v128.load(CARRY, 32), f64x2.sub(x0, q0)));
  v128.store(o, f64x2.relaxed_madd(q0, unit, f64x2.sub(x1, q1)), 16);
  v128.store(o, f64x2.relaxed_madd(q1, unit, f64x2.sub(x2, q2)), 32);
  v128.store(o, f64x2.relaxed_madd(q2, unit, f64x2.sub(x3, q3)), 48);
  v128.store(o, f64x2.relaxed_madd(q3, unit, f64x2.sub(x4, q4)), 64);
}

@inline function sum(a: usize, b: usize, at: usize): v128 { return f64x2.add(v128.load(a + at), v128.load(b + at)); }
@inline function difference(a: usize, b: usize, at: usize): v128 { return f64x2.sub(v128.load(a + at), v128.load(b + at)); }

/** o = a·b. */
export function mul(o: usize, a: usize, b: usize): void {
  mulLimbs(o, v128.load(a), v128.load(a, 16), v128.load(a, 32), v128.load(a, 48), v128.load(a, 64), b);
}

/** o = (a + b)·c for tight a, b, c. */
export function mulSum(o: usize, a: usize, b: usize, c: usize): void {
  mulLimbs(o, sum(a, b, 0), sum(a, b, 16), sum(a, b, 32), sum(a, b, 48), sum(a, b, 64), c);
}

/** o = (a − b)·c for tight a, b, c. */
export function mulDifference(o: usize, a: usize, b: usize, c: usize): void {
  mulLimbs(o, difference(a, b, 0), difference(a, b, 16), difference(a, b, 32), difference(a, b, 48), difference(a, b, 64), c);
}

/** o = a². */
export function sq(o: usize, a: usize): void {
  sqLimbs(o, v128.load(a), v128.load(a, 16), v128.load(a, 32), v128.load(a, 48), v128.load(a, 64));
}

/** o = a^(2^n), n ≥ 1. */
export function sqTimes(o: usize, a: usize, n: i32): void {
  sq(o, a);
  for (let i = 1; i < n; ++i) sq(o, o);
}

/** o = a + b, not carried. */
@inline export function add(o: usize, a: usize, b: usize): void {
  v128.store(o, sum(a, b, 0)); v128.store(o, sum(a, b, 16), 16); v128.store(o, sum(a, b, 32), 32);
  v128.store(o, sum(a, b, 48), 48); v128.store(o, sum(a, b, 64), 64);
}

/** o = a − b, not carried. */
@inline export function sub(o: usize, a: usize, b: usize): void {
  v128.store(o, difference(a, b, 0)); v128.store(o, difference(a, b, 16), 16); v128.store(o, difference(a, b, 32), 32);
  v128.store(o, difference(a, b, 48), 48); v128.store(o, difference(a, b, 64), 64);
}

/** o = a, tight. */
@inline export function carry(o: usize, a: usize): void {
  storeCarried(o, v128.load(a), v128.load(a, 16), v128.load(a, 32), v128.load(a, 48), v128.load(a, 64));
}

/** o = a + b, tight. */
@inline export function addCarry(o: usize, a: usize, b: usize): void {
  storeCarried(o, sum(a, b, 0), sum(a, b, 16), sum(a, b, 32), sum(a, b, 48), sum(a, b, 64));
}

/** o = a − b, tight. */
@inline export function subCarry(o: usize, a: usize, b: usize): void {
  storeCarried(o, difference(a, b, 0), difference(a, b, 16), difference(a, b, 32), difference(a, b, 48), difference(a, b, 64));
}

@inline export function copy(o: usize, a: usize): void {
  for (let i: usize = 0; i < FE; i += 16) v128.store(o + i, v128.load(a + i));
}

/** Both lanes = a small integer. */
export function setInt(o: usize, n: i32): void {
  memory.fill(o, 0, FE);
  store<f64>(o, <f64>n);
  store<f64>(o, <f64>n, 8);
}

/** All-ones 64-bit lanes where the bit (0 | 1) of the lane is set. */
@inline export function laneMask(bits: i32): v128 {
  return i64x2.replace_lane(i64x2.splat(-(<i64>(bits & 1))), 1, -(<i64>((bits >> 1) & 1)));
}

/** A mask of two 64-bit lanes as it applies to the registers of an element pair. */
@inline export function elementMask(mask: v128): v128 { return mask; }

/** Per lane: o = bit of the lane set ? a : b, without branches. */
export function select(o: usize, a: usize, b: usize, bits: i32): void {
  const mask = laneMask(bits);
  for (let i: usize = 0; i < FE; i += 16) v128.store(o + i, v128.bitselect(v128.load(a + i), v128.load(b + i), mask));
}

/** Per lane: o = bit of the lane set ? −a : a, without branches. */
export function negIf(o: usize, a: usize, bits: i32): void {
  const sign = i64x2.shl(laneMask(bits), 63);
  for (let i: usize = 0; i < FE; i += 16) v128.store(o + i, v128.xor(v128.load(a + i), sign));
}

/** A register of (x | y), from the eight bytes of it that either one-lane element stores. */
@inline export function pairLimbs(x: usize, y: usize): v128 { return v128.load64_lane(y, v128.load64_zero(x), 1); }

/** The same register, from the eight bytes of x and the eight of y in one vector. */
@inline export function pairOf(limbs: v128): v128 { return limbs; }

/** o = (x | y), from one-lane elements. */
@inline export function gather(o: usize, x: usize, y: usize): void {
  for (let i: usize = 0; i < 5; ++i) v128.store(o + 16 * i, pairLimbs(x + 8 * i, y + 8 * i));
}

/** x, y = lane 0, lane 1 of a, as one-lane elements. */
@inline export function scatter(x: usize, y: usize, a: usize): void {
  for (let i: usize = 0; i < 5; ++i) {
    const v = v128.load(a + 16 * i);
    v128.store64_lane(x + 8 * i, v, 0);
    v128.store64_lane(y + 8 * i, v, 1);
  }
}

/** o = (lane 0 of x | lane 1 of y), from element pairs. */
@inline export function gatherPair(o: usize, x: usize, y: usize): void {
  for (let i: usize = 0; i < FE; i += 16) v128.store(o + i, v128.load64_lane(y + i + 8, v128.load64_zero(x + i), 1));
}

/** o = (lane 1 of x | lane 0 of y), from element pairs. */
@inline export function gatherCross(o: usize, x: usize, y: usize): void {
  for (let i: usize = 0; i < FE; i += 16) v128.store(o + i, v128.load64_lane(y + i, v128.load64_zero(x + i + 8), 1));
}

/** o = the lanes of a, exchanged. */
@inline export function swapLanes(o: usize, a: usize): void {
  for (let i: usize = 0; i < FE; i += 16) {
    const v = v128.load(a + i);
    v128.store(o + i, i64x2.shuffle(v, v, 1, 0));
  }
}

/** o = the 255-bit little-endian integers at p (lane 0) and q (lane 1); the top bit is ignored, any value is taken mod p. */
export function fromBytes(o: usize, p: usize, q: usize): void {
  loadLane(o, p);
  loadLane(o + 8, q);
  carry(o, o);
}

function loadLane(o: usize, p: usize): void {
  const w0 = load<u64>(p), w1 = load<u64>(p, 8), w2 = load<u64>(p, 16), w3 = load<u64>(p, 24), m: u64 = (1 << 51) - 1;
  store<f64>(o, <f64>(<i64>(w0 & m)));
  store<f64>(o, <f64>(<i64>(((w0 >> 51) | (w1 << 13)) & m)), 16);
  store<f64>(o, <f64>(<i64>(((w1 >> 38) | (w2 << 26)) & m)), 32);
  store<f64>(o, <f64>(<i64>(((w2 >> 25) | (w3 << 39)) & m)), 48);
  store<f64>(o, <f64>(<i64>((w3 >> 12) & m)), 64);
}

/** Writes the canonical 32 bytes of lane 0 to p and of lane 1 to q; |limb| < 2^53. */
export function toBytes(p: usize, q: usize, a: usize): void {
  storeLane(p, a);
  storeLane(q, a + 8);
}

function storeLane(p: usize, a: usize): void {
  const m: i64 = (1 << 51) - 1;
  let h0 = <i64>load<f64>(a), h1 = <i64>load<f64>(a, 16), h2 = <i64>load<f64>(a, 32), h3 = <i64>load<f64>(a, 48), h4 = <i64>load<f64>(a, 64);
  // Signed carries: afterwards every limb but h0 is in [0, 2^51) and |x| < 2^255 + 2^52.
  h1 += h0 >> 51; h0 &= m; h2 += h1 >> 51; h1 &= m; h3 += h2 >> 51; h2 &= m; h4 += h3 >> 51; h3 &= m;
  h0 += 19 * (h4 >> 51); h4 &= m;
  // quotient = floor((x + 19) / 2^255) is −1, 0 or 1, and x − quotient·p is canonical.
  let quotient = (h0 + 19) >> 51;
  quotient = (h1 + quotient) >> 51; quotient = (h2 + quotient) >> 51; quotient = (h3 + quotient) >> 51; quotient = (h4 + quotient) >> 51;
  h0 += 19 * quotient;
  h1 += h0 >> 51; h0 &= m; h2 += h1 >> 51; h1 &= m; h3 += h2 >> 51; h2 &= m; h4 += h3 >> 51; h3 &= m; h4 &= m;
  store<u64>(p, h0 | (h1 << 51));
  store<u64>(p, (h1 >> 13) | (h2 << 38), 8);
  store<u64>(p, (h2 >> 26) | (h3 << 25), 16);
  store<u64>(p, (h3 >> 39) | (h4 << 12), 24);
}
