/**
 * Multiples of the base point from tables of affine summands j·2^(bits·w)·G, no doublings. Two tables, built when
 * first needed: radix 16 (61 KB) is scanned with masks, for secrets; radix 256 (480 KB) is indexed, for public scalars.
 */
import { FE, laneMask } from "./fe";
import {
  AFFINE1, BASE, IDENTITY_AFFINE, PT, addAffine, addCached, copyPoint, dblTimes, gatherAffineSigned, gatherPairs, negateAffineIf,
  orMaskedAffine, scatterAffine, setIdentity, toCached,
} from "./point";
import { normalizeBatch, storeSummands } from "./affine";
import { radix16, radix256 } from "./digits";
import { alloc, arenaMark, arenaRewind } from "./arena";

const TABLE_16: usize = memory.data(64 * 8 * 120, 16);
const TABLE_256: usize = memory.data(32 * 128 * 120, 16);
/** The identity of one lane, for digit 0. */
const NOTHING: usize = memory.data(120, 16);
let ready16: bool = false, ready256: bool = false;

const POWER: usize = memory.data(4 * 160, 16), NEXT: usize = memory.data(4 * 160, 16), STEP: usize = memory.data(4 * 160, 16);

/** `windows` × `entries` summands: entry j − 1 of window w is j·2^(bits·w)·G. Lane 0 builds even windows, lane 1 odd ones. */
function buildTable(table: usize, windows: i32, entries: i32, bits: i32): void {
  const mark = arenaMark(), multiples = alloc(PT * entries);
  copyPoint(POWER, BASE);
  dblTimes(NEXT, BASE, bits);
  gatherPairs(POWER, POWER, NEXT);
  for (let w = 0; w < windows; w += 2) {
    toCached(STEP, POWER);
    copyPoint(multiples, POWER);
    for (let j = 1; j < entries; ++j) addCached(multiples + PT * j, multiples + PT * (j - 1), STEP, true);
    const even = table + AFFINE1 * w * entries, odd = even + AFFINE1 * entries;
    normalizeBatch(multiples, entries);
    storeSummands(even, odd, AFFINE1, multiples, entries);
    if (w + 2 < windows) dblTimes(POWER, POWER, 2 * bits);
  }
  arenaRewind(mark);
}

const DIGITS: usize = memory.data(128, 16);
const ENTRY: usize = memory.data(3 * 160, 16);

/** o = s·G (lane 0), t·G (lane 1), extended; the time and the addresses touched do not depend on the scalars. */
export function baseMult(o: usize, s: usize, t: usize): void {
  if (!ready16) {
    buildTable(TABLE_16, 64, 8, 4);
    ready16 = true;
  }
  radix16(DIGITS, s);
  radix16(DIGITS + 64, t);
  setIdentity(o);
  for (let w: usize = 0; w < 64; ++w) {
    const d = <i32>load<i8>(DIGITS + w), e = <i32>load<i8>(DIGITS + w, 64);
    const dSign = d >> 31, eSign = e >> 31, dSize = (d ^ dSign) - dSign, eSize = (e ^ eSign) - eSign;
    memory.fill(ENTRY, 0, 3 * FE);
    maskedIdentity(ENTRY, laneMask(isEqual(dSize, 0) | (isEqual(eSize, 0) << 1)));
    const table = TABLE_16 + AFFINE1 * 8 * w;
    for (let j = 1; j <= 8; ++j) {
      orMaskedAffine(ENTRY, table + AFFINE1 * (j - 1), laneMask(isEqual(dSize, j) | (isEqual(eSize, j) << 1)));
    }
    negateAffineIf(ENTRY, (dSign & 1) | (eSign & 2));
    addAffine(o, o, ENTRY, true);
  }
}

/** 1 where a = b, for small non-negative integers, without branches. */
@inline export function isEqual(a: i32, b: i32): i32 {
  return ((a ^ b) - 1) >>> 31;
}

@inline function maskedIdentity(o: usize, mask: v128): void {
  for (let i: usize = 0; i < 3 * FE; i += 16) v128.store(o + i, v128.and(v128.load(IDENTITY_AFFINE + i), mask));
}

/** o = s·G (lane 0), t·G (lane 1), extended, for public scalars. */
export function baseMultVartime(o: usize, s: usize, t: usize): void {
  if (!ready256) {
    buildTable(TABLE_256, 32, 128, 8);
    scatterAffine(NOTHING, NOTHING, IDENTITY_AFFINE);
    ready256 = true;
  }
  radix256(DIGITS, s);
  radix256(DIGITS + 64, t);
  setIdentity(o);
  for (let w: usize = 0; w < 32; ++w) {
    const d = <i32>load<i16>(DIGITS + 2 * w), e = <i32>load<i16>(DIGITS + 2 * w, 64), table = TABLE_256 + AFFINE1 * 128 * w;
    gatherAffineSigned(ENTRY, entryOf(table, d), entryOf(table, e), i32(d < 0), i32(e < 0));
    addAffine(o, o, ENTRY, true);
  }
}

@inline function entryOf(table: usize, digit: i32): usize {
  return digit ? table + AFFINE1 * (abs(digit) - 1) : NOTHING;
}

/** Overwrites what the constant-time multiplication leaves. */
export function wipeBase(): void {
  memory.fill(DIGITS, 0, 128);
  memory.fill(ENTRY, 0, 3 * FE);
}
