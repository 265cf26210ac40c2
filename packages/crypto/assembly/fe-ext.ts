/**
 * GF(2^255 − 19), two lanes, on integer products: for processors without fused multiply-add. Same interface as `fe.ts`.
 *
 * An element is 10 signed limbs of alternately 26 and 25 bits, x = Σ x_i·2^⌈25.5 i⌉, 32 bits each. A vector register
 * holds two limbs of both lanes: (x_2k of lane 0, of lane 1, x_2k+1 of lane 0, of lane 1), so a pair is 5 × 16 = 80 bytes.
 * Source of the representation: Bernstein, Duif, Lange, Schwabe, Yang, "High-speed high-security signatures" (ref10).
 *
 * Bounds: "tight" is |x_i| ≤ 2^25 + 2^14 for even, 2^24 + 2^14 for odd i. mul returns tight limbs and needs a tight second
 * operand and a first below 4 × tight: a column is then below 2^60, which the bias keeps positive. carry takes any
 * limbs below 2^30; sq takes a tight operand.
 */

/** Bytes of an element pair. */
export const FE: usize = 80;
/** Bytes of one element of one lane, as stored in tables: 10 limbs of 32 bits. */
export const FE1: usize = 40;

/** Pairs: 2^26 − 1, 2^25 − 1; start of even and odd columns; carry into the first; start of the wrapped column 0. */
const MASKS: usize = memory.data<u64>([0x3ffffff, 0x3ffffff, 0x1ffffff, 0x1ffffff], 16);
/** Bias 2^60, half a limb to centre it, minus the bias that the carry from below brings (2^35 and 2^34). */
const STARTS: usize = memory.data<u64>([
  0x0ffffff802000000, 0x0ffffff802000000, 0x0ffffffc01000000, 0x0ffffffc01000000, // 2^60 + 2^25 − 2^35, 2^60 + 2^24 − 2^34
  0x0000000800000000, 0x0000000800000000, // 2^35
  0x0003ff6800000000, 0x0003ff6800000000, // 2^50 − 19·2^35
], 16);
/** Per 32-bit lane: half a limb; 19; 2^24 (the bias of the last carry); 19 in the upper lanes only; even lanes. */
const HALVES: usize = memory.data<u32>([0x2000000, 0x2000000, 0x1000000, 0x1000000], 16);
const NINETEENS: usize = memory.data<u32>([19, 19, 19, 19], 16);
const LAST_BIAS: usize = memory.data<u32>([0, 0, 0x1000000, 0x1000000], 16);
const EVEN: usize = memory.data<u32>([u32.MAX_VALUE, u32.MAX_VALUE, 0, 0], 16);

/** Limbs of the first operand, each in the lower half of a register; then the same with odd limbs doubled. */
const PLAIN: usize = memory.data(160, 16);
const DOUBLED: usize = memory.data(160, 16);
/** 19·y_0 … 19·y_9, y_0 … y_9: entry 10 + k − i is what x_i meets in column k (2^255 = 19). */
const FACTORS: usize = memory.data(320, 16);

@inline function plus(a: v128, b: v128): v128 { return i64x2.add(a, b); }
@inline function upper(v: v128): v128 { return i64x2.shuffle(v, v, 1, 1); }
@inline function product(x: v128, y: v128): v128 { return i64x2.extmul_low_i32x4_s(x, y); }

const PARTIAL: usize = memory.data(32, 16);

/**
 * Σ_i x_i·entry_(10 + k − i), `y` being the address of entry k + 1. Partial sums go through memory: otherwise V8 on
 * Node 20 loads all twenty operands before the first product and spills them (1.25 times slower).
 */
@inline function column(x: usize, y: usize): v128 {
  let sum = plus(product(v128.load(x), v128.load(y, 144)), product(v128.load(x, 16), v128.load(y, 128)));
  sum = plus(sum, plus(product(v128.load(x, 32), v128.load(y, 112)), product(v128.load(x, 48), v128.load(y, 96))));
  v128.store(PARTIAL, sum);
  sum = plus(product(v128.load(x, 64), v128.load(y, 80)), product(v128.load(x, 80), v128.load(y, 64)));
  sum = plus(sum, plus(product(v128.load(x, 96), v128.load(y, 48)), product(v128.load(x, 112), v128.load(y, 32))));
  v128.store(PARTIAL, sum, 16);
  sum = plus(product(v128.load(x, 128), v128.load(y, 16)), product(v128.load(x, 144), v128.load(y)));
  return plus(plus(v128.load(PARTIAL), v128.load(PARTIAL, 16)), sum);
}

@inline function pack(even: v128, odd: v128): v128 { return i32x4.shuffle(even, odd, 0, 2, 4, 6); }

/** The ten columns of a product. */
const COLUMNS: usize = memory.data(160, 16);

/** Carries COLUMNS and stores the limbs. */
function finish(o: usize): void {
  const mask26 = v128.load(MASKS), mask25 = v128.load(MASKS, 16), half = v128.load(HALVES);
  let carried = v128.load(STARTS, 32), first = carried, second = carried;
  for (let i: usize = 0; i < 5; ++i) {
    const even = plus(plus(v128.load(COLUMNS + 32 * i), v128.load(STARTS)), carried);
    const odd = plus(plus(v128.load(COLUMNS + 32 * i, 16), v128.load(STARTS, 16)), i64x2.shr_u(even, 26));
    carried = i64x2.shr_u(odd, 25);
    const low = v128.and(even, mask26), high = v128.and(odd, mask25);
    if (i == 0) {
      first = low;
      second = high;
    } else v128.store(o + 16 * i, i32x4.sub(pack(low, high), half));
  }
  const four = i64x2.shl(carried, 2), eighteen = plus(i64x2.shl(four, 2), plus(carried, carried));
  const wrapped = plus(plus(first, v128.load(STARTS, 48)), plus(eighteen, carried));
  const limbs = pack(v128.and(wrapped, mask26), plus(second, i64x2.shr_u(wrapped, 26)));
  v128.store(o, i32x4.sub(i32x4.sub(limbs, half), v128.load(LAST_BIAS)));
}

/** Places b in FACTORS. */
@inline function prepareFactors(b: usize): void {
  const nineteen = v128.load(NINETEENS);
  for (let i: usize = 0; i < 5; ++i) {
    const y = v128.load(b + 16 * i), times19 = i32x4.mul(y, nineteen);
    v128.store(FACTORS + 32 * i, times19);
    v128.store(FACTORS + 32 * i, upper(times19), 16);
    v128.store(FACTORS + 32 * i, y, 160);
    v128.store(FACTORS + 32 * i, upper(y), 176);
  }
}

/** o = (element whose limbs are in PLAIN and DOUBLED)·b. */
function mulPrepared(o: usize, b: usize): void {
  prepareFactors(b);
  for (let i: usize = 0; i < 5; ++i) {
    // In an even column the product of two odd limbs counts twice: ⌈25.5 i⌉ + ⌈25.5 j⌉ is one too many.
    v128.store(COLUMNS + 32 * i, column(DOUBLED, FACTORS + 16 + 32 * i));
    v128.store(COLUMNS + 32 * i, column(PLAIN, FACTORS + 32 + 32 * i), 16);
  }
  finish(o);
}

/** Places a vector of two limbs. */
@inline function prepare(i: usize, x: v128): void {
  const odd = upper(x);
  v128.store(PLAIN + 32 * i, x);
  v128.store(PLAIN + 32 * i, odd, 16);
  v128.store(DOUBLED + 32 * i, x);
  v128.store(DOUBLED + 32 * i, i32x4.add(odd, odd), 16);
}

/** o = a·b. */
export function mul(o: usize, a: usize, b: usize): void {
  for (let i: usize = 0; i < 5; ++i) prepare(i, v128.load(a + 16 * i));
  mulPrepared(o, b);
}

/** o = (a + b)·c for tight a, b, c. */
export function mulSum(o: usize, a: usize, b: usize, c: usize): void {
  for (let i: usize = 0; i < 5; ++i) prepare(i, i32x4.add(v128.load(a + 16 * i), v128.load(b + 16 * i)));
  mulPrepared(o, c);
}

/** o = (a − b)·c for tight a, b, c. */
export function mulDifference(o: usize, a: usize, b: usize, c: usize): void {
  for (let i: usize = 0; i < 5; ++i) prepare(i, i32x4.sub(v128.load(a + 16 * i), v128.load(b + 16 * i)));
  mulPrepared(o, c);
}

/** x_i, 2·x_i and 4·x_i, sixteen bytes each; the last for odd i only. */
const TWICE: usize = memory.data(160, 16), FOUR_TIMES: usize = memory.data(160, 16);
/** 19·y_i and y_i in FACTORS. */
const N: usize = FACTORS, F: usize = FACTORS + 160, D: usize = TWICE, Q: usize = FOUR_TIMES;

@inline function sum5(k: usize, a: v128, b: v128, c: v128, d: v128, e: v128): void {
  v128.store(COLUMNS + 16 * k, plus(plus(plus(a, b), plus(c, d)), e));
}
@inline function sum6(k: usize, a: v128, b: v128, c: v128, d: v128, e: v128, f: v128): void {
  v128.store(COLUMNS + 16 * k, plus(plus(plus(a, b), plus(c, d)), plus(e, f)));
}
/** Limb i in table x times limb j in table y. */
@inline function at(x: usize, i: usize, y: usize, j: usize): v128 { return product(v128.load(x + 16 * i), v128.load(y + 16 * j)); }

/** o = a²: each product of two different limbs once, doubled, and doubled again where both are odd and it counts twice. */
export function sq(o: usize, a: usize): void {
  prepareFactors(a);
  for (let i: usize = 0; i < 5; ++i) {
    const x = v128.load(a + 16 * i), twice = i32x4.add(x, x), odd = upper(twice);
    v128.store(TWICE + 32 * i, twice);
    v128.store(TWICE + 32 * i, odd, 16);
    v128.store(FOUR_TIMES + 32 * i, i32x4.add(odd, odd), 16);
  }
  sum6(0, at(F, 0, F, 0), at(Q, 1, N, 9), at(D, 2, N, 8), at(Q, 3, N, 7), at(D, 4, N, 6), at(D, 5, N, 5));
  sum5(1, at(D, 0, F, 1), at(D, 2, N, 9), at(D, 3, N, 8), at(D, 4, N, 7), at(D, 5, N, 6));
  sum6(2, at(D, 0, F, 2), at(D, 1, F, 1), at(Q, 3, N, 9), at(D, 4, N, 8), at(Q, 5, N, 7), at(F, 6, N, 6));
  sum5(3, at(D, 0, F, 3), at(D, 1, F, 2), at(D, 4, N, 9), at(D, 5, N, 8), at(D, 6, N, 7));
  sum6(4, at(D, 0, F, 4), at(Q, 1, F, 3), at(F, 2, F, 2), at(Q, 5, N, 9), at(D, 6, N, 8), at(D, 7, N, 7));
  sum5(5, at(D, 0, F, 5), at(D, 1, F, 4), at(D, 2, F, 3), at(D, 6, N, 9), at(D, 7, N, 8));
  sum6(6, at(D, 0, F, 6), at(Q, 1, F, 5), at(D, 2, F, 4), at(D, 3, F, 3), at(Q, 7, N, 9), at(F, 8, N, 8));
  sum5(7, at(D, 0, F, 7), at(D, 1, F, 6), at(D, 2, F, 5), at(D, 3, F, 4), at(D, 8, N, 9));
  sum6(8, at(D, 0, F, 8), at(Q, 1, F, 7), at(D, 2, F, 6), at(Q, 3, F, 5), at(F, 4, F, 4), at(D, 9, N, 9));
  sum5(9, at(D, 0, F, 9), at(D, 1, F, 8), at(D, 2, F, 7), at(D, 3, F, 6), at(D, 4, F, 5));
  finish(o);
}

/** o = a^(2^n), n ≥ 1. */
export function sqTimes(o: usize, a: usize, n: i32): void {
  sq(o, a);
  for (let i = 1; i < n; ++i) sq(o, o);
}

/** o = a + b, not carried. */
export function add(o: usize, a: usize, b: usize): void {
  for (let i: usize = 0; i < FE; i += 16) v128.store(o + i, i32x4.add(v128.load(a + i), v128.load(b + i)));
}

/** o = a − b, not carried. */
export function sub(o: usize, a: usize, b: usize): void {
  for (let i: usize = 0; i < FE; i += 16) v128.store(o + i, i32x4.sub(v128.load(a + i), v128.load(b + i)));
}

const QUOTIENTS: usize = memory.data(80, 16);

/** o = a, tight: every limb is carried once, all in parallel. */
export function carry(o: usize, a: usize): void {
  const half = v128.load(HALVES), even = v128.load(EVEN);
  for (let i: usize = 0; i < FE; i += 16) {
    const x = v128.load(a + i), centred = i32x4.add(x, half);
    const quotient = v128.bitselect(i32x4.shr_s(centred, 26), i32x4.shr_s(centred, 25), even);
    v128.store(QUOTIENTS + i, quotient);
    v128.store(o + i, i32x4.sub(x, v128.bitselect(i32x4.shl(quotient, 26), i32x4.shl(quotient, 25), even)));
  }
  let below = i32x4.mul(v128.load(QUOTIENTS, 64), v128.load(NINETEENS));
  for (let i: usize = 0; i < FE; i += 16) {
    const quotient = v128.load(QUOTIENTS + i);
    v128.store(o + i, i32x4.add(v128.load(o + i), i64x2.shuffle(below, quotient, 1, 2)));
    below = quotient;
  }
}

/** o = a + b, tight. */
export function addCarry(o: usize, a: usize, b: usize): void {
  add(o, a, b);
  carry(o, o);
}

/** o = a − b, tight. */
export function subCarry(o: usize, a: usize, b: usize): void {
  sub(o, a, b);
  carry(o, o);
}

export function copy(o: usize, a: usize): void {
  for (let i: usize = 0; i < FE; i += 16) v128.store(o + i, v128.load(a + i));
}

/** Both lanes = a small integer. */
export function setInt(o: usize, n: i32): void {
  memory.fill(o, 0, FE);
  store<i32>(o, n);
  store<i32>(o, n, 4);
}

/** All-ones 32-bit lanes where the bit (0 | 1) of the element's lane is set. */
@inline export function laneMask(bits: i32): v128 {
  return i64x2.splat(<i64>(<u64>(<u32>(-(bits & 1))) | (<u64>(<u32>(-((bits >> 1) & 1))) << 32)));
}

/** A mask of two 64-bit lanes as it applies to the registers of an element pair. */
@inline export function elementMask(mask: v128): v128 { return i32x4.shuffle(mask, mask, 0, 2, 0, 2); }

/** Per lane: o = bit of the lane set ? a : b, without branches. */
export function select(o: usize, a: usize, b: usize, bits: i32): void {
  const mask = laneMask(bits);
  for (let i: usize = 0; i < FE; i += 16) v128.store(o + i, v128.bitselect(v128.load(a + i), v128.load(b + i), mask));
}

/** Per lane: o = bit of the lane set ? −a : a, without branches. */
export function negIf(o: usize, a: usize, bits: i32): void {
  const mask = laneMask(bits);
  for (let i: usize = 0; i < FE; i += 16) v128.store(o + i, i32x4.sub(v128.xor(v128.load(a + i), mask), mask));
}

/** A register of (x | y), from the eight bytes of it that either one-lane element stores. */
@inline export function pairLimbs(x: usize, y: usize): v128 { return i32x4.shuffle(v128.load64_zero(x), v128.load64_zero(y), 0, 4, 1, 5); }

/** The same register, from the eight bytes of x and the eight of y in one vector. */
@inline export function pairOf(limbs: v128): v128 { return i32x4.shuffle(limbs, limbs, 0, 2, 1, 3); }

/** o = (x | y), from one-lane elements. */
export function gather(o: usize, x: usize, y: usize): void {
  for (let i: usize = 0; i < 5; ++i) v128.store(o + 16 * i, pairLimbs(x + 8 * i, y + 8 * i));
}

/** x, y = lane 0, lane 1 of a, as one-lane elements. */
export function scatter(x: usize, y: usize, a: usize): void {
  for (let i: usize = 0; i < 5; ++i) {
    const v = v128.load(a + 16 * i), apart = i32x4.shuffle(v, v, 0, 2, 1, 3);
    v128.store64_lane(x + 8 * i, apart, 0);
    v128.store64_lane(y + 8 * i, apart, 1);
  }
}

/** o = (lane 0 of x | lane 1 of y), from element pairs. */
export function gatherPair(o: usize, x: usize, y: usize): void {
  for (let i: usize = 0; i < FE; i += 16) v128.store(o + i, i32x4.shuffle(v128.load(x + i), v128.load(y + i), 0, 5, 2, 7));
}

/** o = (lane 1 of x | lane 0 of y), from element pairs. */
export function gatherCross(o: usize, x: usize, y: usize): void {
  for (let i: usize = 0; i < FE; i += 16) v128.store(o + i, i32x4.shuffle(v128.load(x + i), v128.load(y + i), 1, 4, 3, 6));
}

/** o = the lanes of a, exchanged. */
export function swapLanes(o: usize, a: usize): void {
  for (let i: usize = 0; i < FE; i += 16) {
    const v = v128.load(a + i);
    v128.store(o + i, i32x4.shuffle(v, v, 1, 0, 3, 2));
  }
}

/** o = the 255-bit little-endian integers at p (lane 0) and q (lane 1); the top bit is ignored, any value is taken mod p. */
export function fromBytes(o: usize, p: usize, q: usize): void {
  loadLane(o, p);
  loadLane(o + 4, q);
  carry(o, o);
}

@inline function storePair(o: usize, bits: u64): void {
  store<u32>(o, <u32>(bits & 0x3ffffff));
  store<u32>(o, <u32>((bits >> 26) & 0x1ffffff), 8);
}

function loadLane(o: usize, p: usize): void {
  const w0 = load<u64>(p), w1 = load<u64>(p, 8), w2 = load<u64>(p, 16), w3 = load<u64>(p, 24);
  storePair(o, w0);
  storePair(o + 16, (w0 >> 51) | (w1 << 13));
  storePair(o + 32, (w1 >> 38) | (w2 << 26));
  storePair(o + 48, (w2 >> 25) | (w3 << 39));
  storePair(o + 64, w3 >> 12);
}

/** Writes the canonical 32 bytes of lane 0 to p and of lane 1 to q; |x_i| < 2^27. */
export function toBytes(p: usize, q: usize, a: usize): void {
  storeLane(p, a);
  storeLane(q, a + 4);
}

/** Two neighbouring limbs as one of 51 bits. */
@inline function loadPair(a: usize): i64 {
  return <i64>load<i32>(a) + (<i64>load<i32>(a, 8) << 26);
}

function storeLane(p: usize, a: usize): void {
  const m: i64 = (1 << 51) - 1;
  let h0 = loadPair(a), h1 = loadPair(a + 16), h2 = loadPair(a + 32), h3 = loadPair(a + 48), h4 = loadPair(a + 64);
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
