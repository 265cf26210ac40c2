/**
 * Multiples of one point from tables of affine summands j·2^(bits·w)·P, no doublings. Two of the base point, built when
 * first needed: radix 32 (98 KB) for two secrets, whose entries are chosen by bytes of registers; radix 16 (61 KB) for one,
 * scanned with masks.
 */
import { FE, elementMask, pairLimbs, pairOf } from "./fe";
import {
  AFFINE1, BASE, IDENTITY_AFFINE, PT, addAffine, addCached, copyPoint, dblTimes, gatherPairs, negateAffineIf, setIdentity,
  swapPoint, toCached,
} from "./point";
import { normalizeBatch, storeSummands } from "./affine";
import { DIGIT_MASKS, radix16, radix32, writeDigitMasks } from "./digits";
import { alloc, arenaMark, arenaRewind } from "./arena";

/** Bytes of a table in radix 32: 52 windows of sixteen entries. */
export const TABLE_32_BYTES: usize = 52 * 16 * 120;
/** Bytes of the sixteen entries of a window. */
const WINDOW_32: usize = 16 * AFFINE1;
const TABLE_32: usize = memory.data(52 * 16 * 120, 16);
/** Of the base point in radix 16: 64 windows of eight entries. */
const TABLE_16: usize = memory.data(64 * 8 * 120, 16);
/** Bytes of the eight entries of a window. */
const WINDOW_16: usize = 8 * AFFINE1;
let ready16: bool = false, ready32: bool = false;

const POWER: usize = memory.data(4 * 160, 16), NEXT: usize = memory.data(4 * 160, 16), STEP: usize = memory.data(4 * 160, 16);

/**
 * `windows` (an even number) × `entries` summands: entry j − 1 of window w is j·2^(bits·w)·P, for P in both lanes of
 * `point`. Lane 0 builds even windows, lane 1 odd ones.
 */
export function buildTable(table: usize, point: usize, windows: i32, entries: i32, bits: i32): void {
  const pairs = windows >> 1, mark = arenaMark(), multiples = alloc(PT * entries * pairs);
  copyPoint(POWER, point);
  dblTimes(NEXT, point, bits);
  gatherPairs(POWER, POWER, NEXT);
  for (let w = 0; w < pairs; ++w) {
    const row = multiples + PT * entries * w;
    toCached(STEP, POWER);
    copyPoint(row, POWER);
    for (let j = 1; j < entries; ++j) addCached(row + PT * j, row + PT * (j - 1), STEP, true);
    if (w + 1 < pairs) dblTimes(POWER, POWER, 2 * bits);
  }
  normalizeBatch(multiples, entries * pairs);
  for (let w = 0; w < pairs; ++w) {
    const even = table + 2 * AFFINE1 * entries * w, odd = even + AFFINE1 * entries;
    storeSummands(even, odd, AFFINE1, multiples + PT * entries * w, entries);
  }
  arenaRewind(mark);
}

/**
 * The table in radix 32 of P, for P in both lanes of `point`, for `multByTable32`: in each window the first eight bytes
 * of all entries, then the next eight of all, and so on.
 */
export function buildTable32(table: usize, point: usize): void {
  const mark = arenaMark(), rows = alloc(TABLE_32_BYTES);
  buildTable(rows, point, 52, 16, 5);
  for (let w: usize = 0; w < 52; ++w) {
    const from = rows + WINDOW_32 * w, to = table + WINDOW_32 * w;
    for (let i: usize = 0; i < AFFINE1; i += 8)
      for (let j: usize = 0; j < 16; ++j) store<u64>(to + 16 * i + 8 * j, load<u64>(from + AFFINE1 * j + i));
  }
  arenaRewind(mark);
}

const DIGITS: usize = memory.data(128, 16);
const ENTRY: usize = memory.data(3 * 160, 16);

@inline function prepareTable16(): void {
  if (ready16) return;
  buildTable(TABLE_16, BASE, 64, 8, 4);
  ready16 = true;
}

/** o = s·G (lane 0), t·G (lane 1), extended; the time and the addresses touched do not depend on the scalars. */
export function baseMult(o: usize, s: usize, t: usize): void {
  if (!ready32) {
    buildTable32(TABLE_32, BASE);
    ready32 = true;
  }
  radix32(DIGITS, s);
  radix32(DIGITS + 64, t);
  multByTable32(o, TABLE_32, DIGITS, DIGITS + 64);
}

/**
 * o = s·P (lane 0), t·P (lane 1), extended, of the point of a table of `buildTable32`, by the digits of s and t. As secret:
 * entries are chosen by bytes of registers.
 */
export function multByTable32(o: usize, table: usize, s: usize, t: usize): void {
  setIdentity(o);
  for (let w: usize = 0; w < 52; ++w) {
    const d = <i32>load<i8>(s + w), e = <i32>load<i8>(t + w), dSign = d >> 31, eSign = e >> 31;
    chooseEntries(table + WINDOW_32 * w, (d ^ dSign) - dSign, (e ^ eSign) - eSign);
    negateAffineIf(ENTRY, (dSign & 1) | (eSign & 2));
    addAffine(o, o, ENTRY, true);
  }
}

/** The bytes of an entry's eight, for either lane, and what lies between two registers of them. */
const EIGHT_BYTES: usize = memory.data<u64>([0x0706050403020100, 0x0706050403020100]);
const REGISTER_BYTES: usize = memory.data<u64>([0x1010101010101010, 0x1010101010101010]);

/** ENTRY = the dSize-th entry of a window of `buildTable32` (lane 0), its eSize-th (lane 1), the identity for 0. */
function chooseEntries(window: usize, dSize: i32, eSize: i32): void {
  const sizes = i64x2.replace_lane(i64x2.splat(<i64>dSize), 1, <i64>eSize);
  const none = elementMask(i64x2.eq(sizes, i64x2.splat(0)));
  // A size of 0 gives places beyond all registers, which choose nothing.
  const first = i64x2.replace_lane(i64x2.splat(placesOf(dSize)), 1, placesOf(eSize));
  const step = v128.load(REGISTER_BYTES), p0 = i8x16.add(first, v128.load(EIGHT_BYTES));
  const p1 = i8x16.sub(p0, step), p2 = i8x16.sub(p1, step), p3 = i8x16.sub(p2, step), p4 = i8x16.sub(p3, step);
  const p5 = i8x16.sub(p4, step), p6 = i8x16.sub(p5, step), p7 = i8x16.sub(p6, step);
  for (let i: usize = 0; i < AFFINE1; i += 8) {
    const at = window + 16 * i;
    let sum = v128.or(i8x16.swizzle(v128.load(at), p0), i8x16.swizzle(v128.load(at, 16), p1));
    sum = v128.or(sum, v128.or(i8x16.swizzle(v128.load(at, 32), p2), i8x16.swizzle(v128.load(at, 48), p3)));
    sum = v128.or(sum, v128.or(i8x16.swizzle(v128.load(at, 64), p4), i8x16.swizzle(v128.load(at, 80), p5)));
    sum = v128.or(sum, v128.or(i8x16.swizzle(v128.load(at, 96), p6), i8x16.swizzle(v128.load(at, 112), p7)));
    v128.store(ENTRY + 2 * i, v128.or(pairOf(sum), v128.and(v128.load(IDENTITY_AFFINE + 2 * i), none)));
  }
}

/** The place of the first byte of an entry, in all eight bytes. */
@inline function placesOf(size: i32): i64 {
  return <i64>((8 * (size - 1)) & 255) * 0x0101010101010101;
}

/** o (both lanes) = s·G, extended, in half the time: lane 0 sums the even windows, lane 1 the odd ones. As secret. */
export function baseMultSingle(o: usize, s: usize): void {
  prepareTable16();
  radix16(DIGITS, s);
  setIdentity(o);
  for (let w: usize = 0; w < 64; w += 2) {
    const entries = TABLE_16 + WINDOW_16 * w;
    addScanned(o, entries, entries + WINDOW_16, <i32>load<i8>(DIGITS + w), <i32>load<i8>(DIGITS + w, 1));
  }
  swapPoint(NEXT, o);
  toCached(STEP, NEXT);
  addCached(o, o, STEP, true);
}

/** o += d·(point of the entries x) in lane 0, e·(point of the entries y) in lane 1; −8 ≤ d, e ≤ 8. Reads all entries. */
function addScanned(o: usize, x: usize, y: usize, d: i32, e: i32): void {
  const dSign = d >> 31, eSign = e >> 31;
  scanEntries(x, y, (d ^ dSign) - dSign, (e ^ eSign) - eSign);
  negateAffineIf(ENTRY, (dSign & 1) | (eSign & 2));
  addAffine(o, o, ENTRY, true);
}

/** ENTRY = the dSize-th entry of x (lane 0), the eSize-th of y (lane 1), the identity for 0. */
function scanEntries(x: usize, y: usize, dSize: i32, eSize: i32): void {
  writeDigitMasks(dSize, eSize);
  const m0 = v128.load(DIGIT_MASKS), m1 = v128.load(DIGIT_MASKS, 16), m2 = v128.load(DIGIT_MASKS, 32), m3 = v128.load(DIGIT_MASKS, 48);
  const m4 = v128.load(DIGIT_MASKS, 64), m5 = v128.load(DIGIT_MASKS, 80), m6 = v128.load(DIGIT_MASKS, 96), m7 = v128.load(DIGIT_MASKS, 112);
  const m8 = v128.load(DIGIT_MASKS, 128);
  for (let i: usize = 0; i < AFFINE1; i += 8) {
    let sum = v128.and(v128.load(IDENTITY_AFFINE + 2 * i), m0);
    sum = v128.or(sum, v128.and(pairLimbs(x + i, y + i), m1));
    sum = v128.or(sum, v128.and(pairLimbs(x + i + AFFINE1, y + i + AFFINE1), m2));
    sum = v128.or(sum, v128.and(pairLimbs(x + i + 2 * AFFINE1, y + i + 2 * AFFINE1), m3));
    sum = v128.or(sum, v128.and(pairLimbs(x + i + 3 * AFFINE1, y + i + 3 * AFFINE1), m4));
    sum = v128.or(sum, v128.and(pairLimbs(x + i + 4 * AFFINE1, y + i + 4 * AFFINE1), m5));
    sum = v128.or(sum, v128.and(pairLimbs(x + i + 5 * AFFINE1, y + i + 5 * AFFINE1), m6));
    sum = v128.or(sum, v128.and(pairLimbs(x + i + 6 * AFFINE1, y + i + 6 * AFFINE1), m7));
    sum = v128.or(sum, v128.and(pairLimbs(x + i + 7 * AFFINE1, y + i + 7 * AFFINE1), m8));
    v128.store(ENTRY + 2 * i, sum);
  }
}

/** Overwrites what a multiplication by a secret leaves. */
export function wipeBase(): void {
  memory.fill(DIGITS, 0, 128);
  memory.fill(ENTRY, 0, 3 * FE);
  memory.fill(NEXT, 0, PT);
  memory.fill(STEP, 0, PT);
}
