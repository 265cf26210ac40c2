/**
 * The curve −x² + y² = 1 + d·x²·y², two lanes: one text for every field back-end.
 *
 * A point is extended homogeneous (X : Y : Z : T), x = X/Z, y = Y/Z, T = X·Y/Z. As second summand it is "cached":
 * (Y + X, Y − X, 2Z, 2d·T), or for an affine table entry "affine": (y + x, y − x, 2d·x·y). All coordinates are tight.
 * The addition law is complete on the curve: no case distinctions. Source: Hisil, Wong, Carter, Dawson, "Twisted
 * Edwards curves revisited", §3.1 (addition) and §3.3 (doubling, all signs turned).
 */
import {
  FE, FE1, add, addCarry, copy, fromBytes, gather, gatherCross, gatherPair, mul, mulDifference, mulSum, negIf, scatter,
  select, setInt, sq, sub, subCarry, swapLanes, toBytes,
} from "./fe";
import { D, D2, ONE, SQRT_M1, invert, oddLanes, ratioRoot, wipeField, zeroLanes } from "./field";

/** Offsets of the coordinates in an extended point. */
export const X: usize = 0;
export const Y: usize = FE;
export const Z: usize = 2 * FE;
export const T: usize = 3 * FE;
/** Bytes of a two-lane point, extended or cached. */
export const PT: usize = 4 * FE;
/** Bytes of a two-lane affine entry. */
export const AFFINE: usize = 3 * FE;
/** Bytes of one point of one lane, extended or cached. */
export const PT1: usize = 4 * FE1;
/** Bytes of one affine entry of one lane. */
export const AFFINE1: usize = 3 * FE1;

/** Temporaries of the formulas; nothing survives a call. */
const SCRATCH: usize = memory.data(160 * 12, 16);
const A: usize = SCRATCH, B: usize = SCRATCH + FE, C: usize = SCRATCH + 2 * FE, E: usize = SCRATCH + 3 * FE, F: usize = SCRATCH + 4 * FE;
const G: usize = SCRATCH + 5 * FE, H: usize = SCRATCH + 6 * FE, S: usize = SCRATCH + 7 * FE, U: usize = SCRATCH + 8 * FE, V: usize = SCRATCH + 9 * FE;
const BYTES: usize = memory.data(64, 16);

/** o = 2p; T only where it is asked for. 4 squarings, 3 or 4 products. */
export function dbl(o: usize, p: usize, withT: bool): void {
  sq(A, p + X);
  sq(B, p + Y);
  sq(C, p + Z);
  addCarry(S, p + X, p + Y);
  sq(S, S);
  addCarry(H, A, B); // X² + Y²
  sub(E, H, S); // −2XY
  sub(G, A, B); // X² − Y²
  add(F, C, C);
  addCarry(F, F, G); // 2Z² + X² − Y²
  mul(o + X, E, F);
  mul(o + Y, G, H);
  mul(o + Z, F, G);
  if (withT) mul(o + T, E, H);
}

/** o = 2^n·p, n ≥ 1, with T. */
export function dblTimes(o: usize, p: usize, n: i32): void {
  dbl(o, p, n == 1);
  for (let i = 1; i < n; ++i) dbl(o, o, i == n - 1);
}

@inline function finish(o: usize, withT: bool): void {
  mul(o + X, E, F);
  mul(o + Y, G, H);
  mul(o + Z, F, G);
  if (withT) mul(o + T, E, H);
}

/** o = p + q, q cached; 8 products. */
export function addCached(o: usize, p: usize, q: usize, withT: bool): void {
  mulDifference(A, p + Y, p + X, q + FE);
  mulSum(B, p + Y, p + X, q);
  mul(C, p + T, q + 3 * FE);
  mul(S, p + Z, q + 2 * FE);
  sub(E, B, A);
  addCarry(H, B, A);
  subCarry(F, S, C);
  add(G, S, C);
  finish(o, withT);
}

/** o = p − q, q cached. */
export function subCached(o: usize, p: usize, q: usize, withT: bool): void {
  mulDifference(A, p + Y, p + X, q);
  mulSum(B, p + Y, p + X, q + FE);
  mul(C, p + T, q + 3 * FE);
  mul(S, p + Z, q + 2 * FE);
  sub(E, B, A);
  addCarry(H, B, A);
  addCarry(F, S, C);
  sub(G, S, C);
  finish(o, withT);
}

/** o = p + q, q affine; 7 products. */
export function addAffine(o: usize, p: usize, q: usize, withT: bool): void {
  mulDifference(A, p + Y, p + X, q + FE);
  mulSum(B, p + Y, p + X, q);
  mul(C, p + T, q + 2 * FE);
  add(S, p + Z, p + Z);
  sub(E, B, A);
  addCarry(H, B, A);
  subCarry(F, S, C);
  add(G, S, C);
  finish(o, withT);
}

/** o = p as second summand; o ≠ p. */
export function toCached(o: usize, p: usize): void {
  addCarry(o, p + Y, p + X);
  subCarry(o + FE, p + Y, p + X);
  addCarry(o + 2 * FE, p + Z, p + Z);
  mul(o + 3 * FE, p + T, D2);
}

/** o = 2^0·p, cached odd multiples p, 3p, 5p, … (2·count − 1)·p, each PT bytes. */
export function oddMultiples(o: usize, p: usize, count: i32): void {
  toCached(o, p);
  if (count == 1) return;
  dbl(TWICE, p, true);
  for (let i = 1; i < count; ++i) {
    addCached(NEXT, TWICE, o + PT * (i - 1), true);
    toCached(o + PT * i, NEXT);
  }
}
const TWICE: usize = memory.data(4 * 160, 16), NEXT: usize = memory.data(4 * 160, 16);

/** o = cached multiples 1p, 2p, … count·p, each PT bytes. */
export function multiples(o: usize, p: usize, count: i32): void {
  toCached(o, p);
  copyPoint(NEXT, p);
  for (let i = 1; i < count; ++i) {
    addCached(NEXT, NEXT, o, true);
    toCached(o + PT * i, NEXT);
  }
}

export function setIdentity(o: usize): void {
  setInt(o + X, 0);
  setInt(o + Y, 1);
  setInt(o + Z, 1);
  setInt(o + T, 0);
}

export function copyPoint(o: usize, p: usize): void {
  memory.copy(o, p, PT);
}

/** o = 8p; T only where it is asked for. */
export function mulBy8(o: usize, p: usize, withT: bool): void {
  dbl(o, p, false);
  dbl(o, o, false);
  dbl(o, o, withT);
}

/** Per lane: q = −q where the bit of the lane is set; `t` is the offset of the last coordinate. Without branches. */
@inline function negateSummandIf(q: usize, t: usize, bits: i32): void {
  copy(S, q);
  select(q, q + FE, q, bits);
  select(q + FE, S, q + FE, bits);
  negIf(q + t, q + t, bits);
}

/** Per lane: cached q = −q where the bit of the lane is set. */
export function negateCachedIf(q: usize, bits: i32): void {
  negateSummandIf(q, 3 * FE, bits);
}

/** Per lane: affine q = −q where the bit of the lane is set. */
export function negateAffineIf(q: usize, bits: i32): void {
  negateSummandIf(q, 2 * FE, bits);
}

/** o = the affine summands of decompressed points (Z = 1). */
export function toAffine(o: usize, p: usize): void {
  addCarry(o, p + Y, p + X);
  subCarry(o + FE, p + Y, p + X);
  mul(o + 2 * FE, p + T, D2);
}

/** Two-lane point from one-lane points. */
export function gatherPoint(o: usize, x: usize, y: usize): void {
  gather(o, x, y);
  gather(o + FE, x + FE1, y + FE1);
  gather(o + 2 * FE, x + 2 * FE1, y + 2 * FE1);
  gather(o + 3 * FE, x + 3 * FE1, y + 3 * FE1);
}

export function scatterPoint(x: usize, y: usize, p: usize): void {
  scatter(x, y, p);
  scatter(x + FE1, y + FE1, p + FE);
  scatter(x + 2 * FE1, y + 2 * FE1, p + 2 * FE);
  scatter(x + 3 * FE1, y + 3 * FE1, p + 3 * FE);
}

export function scatterAffine(x: usize, y: usize, q: usize): void {
  scatter(x, y, q);
  scatter(x + FE1, y + FE1, q + FE);
  scatter(x + 2 * FE1, y + 2 * FE1, q + 2 * FE);
}

/** Two-lane affine summand from one-lane ones, each negated where its flag (0 | 1) is set; branches on the flags. */
export function gatherAffineSigned(o: usize, x: usize, y: usize, negateX: i32, negateY: i32): void {
  const xSwap: usize = negateX ? FE1 : 0, ySwap: usize = negateY ? FE1 : 0;
  gather(o, x + xSwap, y + ySwap);
  gather(o + FE, x + FE1 - xSwap, y + FE1 - ySwap);
  gather(o + 2 * FE, x + 2 * FE1, y + 2 * FE1);
  const signs = negateX | (negateY << 1);
  if (signs) negIf(o + 2 * FE, o + 2 * FE, signs);
}

/** (lane 0 of x | lane 1 of y), from two-lane points. */
export function gatherPairs(o: usize, x: usize, y: usize): void {
  gatherPair(o, x, y);
  gatherPair(o + FE, x + FE, y + FE);
  gatherPair(o + 2 * FE, x + 2 * FE, y + 2 * FE);
  gatherPair(o + 3 * FE, x + 3 * FE, y + 3 * FE);
}

/** (lane 1 of x | lane 0 of y), from two-lane points. */
export function gatherCrosses(o: usize, x: usize, y: usize): void {
  gatherCross(o, x, y);
  gatherCross(o + FE, x + FE, y + FE);
  gatherCross(o + 2 * FE, x + 2 * FE, y + 2 * FE);
  gatherCross(o + 3 * FE, x + 3 * FE, y + 3 * FE);
}

export function swapPoint(o: usize, p: usize): void {
  swapLanes(o, p);
  swapLanes(o + FE, p + FE);
  swapLanes(o + 2 * FE, p + 2 * FE);
  swapLanes(o + 3 * FE, p + 3 * FE);
}

/** Bytes of y, whose top bit is the parity of x: non-canonical y (≥ p) is refused, as `ge_frombytes_vartime` does. */
@inline function isCanonicalY(p: usize): i32 {
  const top = load<u64>(p, 24) & 0x7fffffffffffffff;
  return i32(!(top == 0x7fffffffffffffff && (load<u64>(p, 8) & load<u64>(p, 16)) == u64.MAX_VALUE && load<u64>(p) >= 0xffffffffffffffed));
}

/**
 * o = the points encoded at p (lane 0) and q (lane 1), Z = 1. Returns a bit per lane: 1 where it is valid. An invalid
 * lane is replaced by the base point: off the curve the addition law could reach Z = 0 and, through a shared
 * inversion, spoil the other points of a batch.
 */
export function decompress(o: usize, p: usize, q: usize): i32 {
  const valid = decompressRaw(o, p, q);
  if (valid != 3) {
    select(o + X, o + X, BASE + X, valid);
    select(o + Y, o + Y, BASE + Y, valid);
    select(o + T, o + T, BASE + T, valid);
  }
  return valid;
}

function decompressRaw(o: usize, p: usize, q: usize): i32 {
  const signs = <i32>(load<u8>(p, 31) >> 7) | (<i32>(load<u8>(q, 31) >> 7) << 1);
  fromBytes(o + Y, p, q);
  copy(o + Z, ONE);
  sq(U, o + Y);
  mul(V, U, D);
  subCarry(U, U, ONE); // u = y² − 1
  addCarry(V, V, ONE); // v = d·y² + 1
  ratioRoot(o + X, U, V); // x² = u/v, up to a fourth root of unity
  sq(A, o + X);
  mul(A, A, V);
  subCarry(B, A, U);
  addCarry(C, A, U);
  const direct = zeroLanes(B), turned = zeroLanes(C);
  mul(E, o + X, SQRT_M1);
  select(o + X, o + X, E, direct);
  const odd = oddLanes(o + X), zero = zeroLanes(o + X);
  negIf(o + X, o + X, odd ^ signs);
  mul(o + T, o + X, o + Y);
  const canonical = isCanonicalY(p) | (isCanonicalY(q) << 1);
  return (direct | turned) & canonical & ~(zero & signs);
}

/** Encodes both lanes with one inversion. */
export function encode(o0: usize, o1: usize, p: usize): void {
  invert(U, p + Z);
  encodeWith(o0, o1, p, U);
}

function encodeWith(o0: usize, o1: usize, p: usize, inverse: usize): void {
  mul(A, p + X, inverse);
  mul(B, p + Y, inverse);
  const odd = oddLanes(A);
  toBytes(BYTES, BYTES + 32, B);
  memory.copy(o0, BYTES, 32);
  memory.copy(o1, BYTES + 32, 32);
  store<u8>(o0, load<u8>(o0, 31) | ((odd & 1) << 7), 31);
  store<u8>(o1, load<u8>(o1, 31) | ((odd >> 1) << 7), 31);
}

/**
 * Encodes `pairs` two-lane points, PT bytes apart, to 64 bytes each, with one inversion for all (Montgomery's trick):
 * their T is overwritten by the running product of Z. Every Z must be nonzero, which `decompress` ensures.
 */
export function encodeBatch(out: usize, points: usize, pairs: i32): void {
  copy(V, ONE);
  for (let i = 0; i < pairs; ++i) {
    const p = points + PT * i;
    copy(p + T, V);
    mul(V, V, p + Z);
  }
  invert(V, V);
  for (let i = pairs - 1; i >= 0; --i) {
    const p = points + PT * i;
    mul(U, V, p + T); // 1/Z
    mul(V, V, p + Z);
    encodeWith(out + 64 * i, out + 64 * i + 32, p, U);
  }
}

/** The base point y = 4/5 in both lanes. */
export const BASE: usize = memory.data(4 * 160, 16);
const BASE_BYTES: usize = memory.data<u64>([0x6666666666666658, 0x6666666666666666, 0x6666666666666666, 0x6666666666666666]);
decompressRaw(BASE, BASE_BYTES, BASE_BYTES);

/** The identity: extended, and as a cached and an affine summand of both lanes. */
export const IDENTITY: usize = memory.data(4 * 160, 16);
export const IDENTITY_CACHED: usize = memory.data(4 * 160, 16);
export const IDENTITY_AFFINE: usize = memory.data(3 * 160, 16);
setIdentity(IDENTITY);
toCached(IDENTITY_CACHED, IDENTITY);
toAffine(IDENTITY_AFFINE, IDENTITY);

/** A bit per lane: 1 where p is the identity (X = 0 and Y = Z; the point of order 2 has Y = −Z). */
export function identityLanes(p: usize): i32 {
  subCarry(A, p + Y, p + Z);
  return zeroLanes(p + X) & zeroLanes(A);
}

/** Overwrites the temporaries of the point and field layers. */
export function wipePoint(): void {
  memory.fill(SCRATCH, 0, 10 * FE);
  memory.fill(TWICE, 0, PT);
  memory.fill(NEXT, 0, PT);
  memory.fill(BYTES, 0, 64);
  wipeField();
}
