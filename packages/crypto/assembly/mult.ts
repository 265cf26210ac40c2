/** Multiples of arbitrary points, two independent lanes at a time. */
import {
  IDENTITY_CACHED, PT, addCached, dbl, dblTimes, gatherPairs, multiples, negateCachedIf, oddMultiples, setIdentity, subCached,
} from "./point";
import { DIGIT_MASKS, nonAdjacentForm, radix16, writeDigitMasks } from "./digits";

const TABLE: usize = memory.data(8 * 4 * 160, 16), SECOND: usize = memory.data(8 * 4 * 160, 16);
const DIGITS: usize = memory.data(256, 16);
const ENTRY: usize = memory.data(4 * 160, 16), POWER: usize = memory.data(4 * 160, 16);

/**
 * o = s·(lane 0 of p), t·(lane 1 of p), without T: fixed windows of four bits, the table scanned with masks. Time and
 * addresses do not depend on the scalars.
 */
export function scalarMult(o: usize, p: usize, s: usize, t: usize): void {
  multiples(TABLE, p, 8);
  radix16(DIGITS, s);
  radix16(DIGITS + 64, t);
  setIdentity(o);
  for (let i = 63; i >= 0; --i) {
    if (i < 63) {
      dbl(o, o, false); dbl(o, o, false); dbl(o, o, false); dbl(o, o, true);
    }
    addScanned(o, TABLE, <i32>load<i8>(DIGITS + i), <i32>load<i8>(DIGITS + i, 64), false);
  }
}

/**
 * The same by two pairs of scalars, (s, t) into o and (u, v) into q: the multiples of 2^128·p, made once, let both do with
 * half the doublings.
 */
export function scalarMultTwice(o: usize, q: usize, p: usize, s: usize, t: usize, u: usize, v: usize): void {
  multiples(TABLE, p, 8);
  dblTimes(POWER, p, 128);
  multiples(SECOND, POWER, 8);
  multByHalves(o, s, t);
  multByHalves(q, u, v);
}

/** o = s·(lane 0), t·(lane 1) of the point whose multiples are in TABLE, those of 2^128 times it in SECOND; without T. */
function multByHalves(o: usize, s: usize, t: usize): void {
  radix16(DIGITS, s);
  radix16(DIGITS + 64, t);
  setIdentity(o);
  for (let i = 31; i >= 0; --i) {
    if (i < 31) {
      dbl(o, o, false); dbl(o, o, false); dbl(o, o, false); dbl(o, o, true);
    }
    addScanned(o, TABLE, <i32>load<i8>(DIGITS + i), <i32>load<i8>(DIGITS + i, 64), true);
    addScanned(o, SECOND, <i32>load<i8>(DIGITS + i, 32), <i32>load<i8>(DIGITS + i, 96), false);
  }
}

/** ENTRY = |d|·(lane 0), |e|·(lane 1) of the point whose multiples 1 … 8 are in `table`, all of it read with masks. */
function scanTable(table: usize, dSize: i32, eSize: i32): void {
  writeDigitMasks(dSize, eSize);
  const m0 = v128.load(DIGIT_MASKS), m1 = v128.load(DIGIT_MASKS, 16), m2 = v128.load(DIGIT_MASKS, 32), m3 = v128.load(DIGIT_MASKS, 48);
  const m4 = v128.load(DIGIT_MASKS, 64), m5 = v128.load(DIGIT_MASKS, 80), m6 = v128.load(DIGIT_MASKS, 96), m7 = v128.load(DIGIT_MASKS, 112);
  const m8 = v128.load(DIGIT_MASKS, 128);
  for (let i: usize = 0; i < PT; i += 16) {
    const at = table + i;
    const low = v128.or(v128.and(v128.load(IDENTITY_CACHED + i), m0), v128.and(v128.load(at), m1));
    const second = v128.or(v128.and(v128.load(at, PT), m2), v128.and(v128.load(at, 2 * PT), m3));
    const third = v128.or(v128.and(v128.load(at, 3 * PT), m4), v128.and(v128.load(at, 4 * PT), m5));
    const high = v128.or(v128.and(v128.load(at, 5 * PT), m6), v128.and(v128.load(at, 6 * PT), m7));
    const last = v128.and(v128.load(at, 7 * PT), m8);
    v128.store(ENTRY + i, v128.or(v128.or(v128.or(low, second), v128.or(third, high)), last));
  }
}

/**
 * o += d·(lane 0), e·(lane 1) of the point whose multiples 1 … 8 are in `table`; −8 ≤ d, e ≤ 8. Reads the whole table.
 * T is computed only `withT`: a doubling needs none.
 */
export function addScanned(o: usize, table: usize, d: i32, e: i32, withT: bool): void {
  const dSign = d >> 31, eSign = e >> 31;
  scanTable(table, (d ^ dSign) - dSign, (e ^ eSign) - eSign);
  negateCachedIf(ENTRY, (dSign & 1) | (eSign & 2));
  addCached(o, o, ENTRY, withT);
}

/**
 * o = s·p for one secret scalar in both lanes, given in radix 16; without T. Time and addresses do not depend on the
 * scalar.
 */
export function multBySecret(o: usize, p: usize, digits: usize): void {
  multiples(TABLE, p, 8);
  setIdentity(o);
  for (let i = 63; i >= 0; --i) {
    if (i < 63) {
      dbl(o, o, false); dbl(o, o, false); dbl(o, o, false); dbl(o, o, true);
    }
    const d = <i32>load<i8>(digits + i);
    addScanned(o, TABLE, d, d, false);
  }
}

/** The digits shared by the points of a batch, for `multByDigits`. Returns the index of the highest. */
export function prepareDigits(digits: usize, scalar: usize): i32 {
  return nonAdjacentForm(digits, scalar, 5);
}

/** o = s·p for one public scalar in both lanes, given as its width-5 non-adjacent form; without T. */
export function multByDigits(o: usize, p: usize, digits: usize, top: i32): void {
  oddMultiples(TABLE, p, 8);
  setIdentity(o);
  for (let i = top; i >= 0; --i) {
    const d = <i32>load<i8>(digits + i);
    if (i < top) dbl(o, o, d != 0);
    if (d > 0) addCached(o, o, TABLE + PT * (d >> 1), false);
    else if (d < 0) subCached(o, o, TABLE + PT * (-d >> 1), false);
  }
}

/** o = a·p + b·q in both lanes, for public scalars given as width-5 non-adjacent forms up to digit `top`; without T. */
export function combineByDigits(o: usize, p: usize, a: usize, q: usize, b: usize, top: i32): void {
  oddMultiples(TABLE, p, 8);
  oddMultiples(SECOND, q, 8);
  setIdentity(o);
  for (let i = top; i >= 0; --i) {
    const d = <i32>load<i8>(a + i), e = <i32>load<i8>(b + i);
    if (i < top) dbl(o, o, (d | e) != 0);
    if (d > 0) addCached(o, o, TABLE + PT * (d >> 1), e != 0);
    else if (d < 0) subCached(o, o, TABLE + PT * (-d >> 1), e != 0);
    if (e > 0) addCached(o, o, SECOND + PT * (e >> 1), false);
    else if (e < 0) subCached(o, o, SECOND + PT * (-e >> 1), false);
  }
}

/** o = a0·P0 + b0·Q0 (lane 0), a1·P1 + b1·Q1 (lane 1), without T, for public scalars. */
export function doubleScalarMult(o: usize, p: usize, a0: usize, a1: usize, q: usize, b0: usize, b1: usize): void {
  multiples(TABLE, p, 8);
  multiples(SECOND, q, 8);
  radix16(DIGITS, a0); radix16(DIGITS + 64, a1); radix16(DIGITS + 128, b0); radix16(DIGITS + 192, b1);
  setIdentity(o);
  for (let i = 63; i >= 0; --i) {
    if (i < 63) {
      dbl(o, o, false); dbl(o, o, false); dbl(o, o, false); dbl(o, o, true);
    }
    addIndexed(o, TABLE, <i32>load<i8>(DIGITS + i), <i32>load<i8>(DIGITS + i, 64), true);
    addIndexed(o, SECOND, <i32>load<i8>(DIGITS + i, 128), <i32>load<i8>(DIGITS + i, 192), false);
  }
}

@inline function entryOf(table: usize, digit: i32): usize {
  return digit ? table + PT * (abs(digit) - 1) : IDENTITY_CACHED;
}

/** o += d·(lane 0), e·(lane 1) of the point whose multiples 1 … 8 are in `table`, for public digits. */
export function addIndexed(o: usize, table: usize, d: i32, e: i32, withT: bool): void {
  gatherPairs(ENTRY, entryOf(table, d), entryOf(table, e));
  negateCachedIf(ENTRY, i32(d < 0) | (i32(e < 0) << 1));
  addCached(o, o, ENTRY, withT);
}

/** Overwrites what a multiplication by a secret leaves. */
export function wipeMult(): void {
  memory.fill(TABLE, 0, 8 * PT);
  memory.fill(SECOND, 0, 8 * PT);
  memory.fill(DIGITS, 0, 256);
  memory.fill(ENTRY, 0, PT);
  memory.fill(POWER, 0, PT);
}
