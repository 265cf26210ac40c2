/** Point operations on encodings, as the JavaScript side calls them. Those that decode return 0 where a point is invalid. */
import {
  IDENTITY_CACHED, PT, addCached, decompress, encode, encodeBatch, gatherPairs, identityLanes, mulBy8, setIdentity, subCached,
  swapPoint, toCached,
} from "./point";
import { baseMult, baseMultSingle } from "./base";
import { combineByDigits, doubleScalarMult, multByDigits, prepareDigits, scalarMult, scalarMultTwice } from "./mult";
import { hashToPoint } from "./elligator";
import { alloc, arenaMark, arenaRewind } from "./arena";

const P: usize = memory.data(4 * 160, 16), Q: usize = memory.data(4 * 160, 16), O: usize = memory.data(4 * 160, 16);
const NAF: usize = memory.data(256, 16), SPARE: usize = memory.data(32, 16);
const ORDER: usize = memory.data<u64>([0x5812631a5cf5d3ed, 0x14def9dea2f79cd6, 0, 0x1000000000000000]);

export function isPoint(p: usize): i32 {
  return i32(decompress(P, p, p) == 3);
}

/** verdicts_i = 1 where P_i decodes and ℓ·P_i is the identity, else 0: n bytes. */
export function areInMainSubgroup(verdicts: usize, points: usize, n: i32): void {
  const top = prepareDigits(NAF, ORDER);
  for (let i = 0; i < n; i += 2) {
    const j = i + 1 < n ? i + 1 : i;
    const valid = decompress(P, points + 32 * i, points + 32 * j);
    multByDigits(O, P, NAF, top);
    const bits = valid & identityLanes(O);
    store<u8>(verdicts + j, <u8>(bits >> 1));
    store<u8>(verdicts + i, <u8>(bits & 1));
  }
}

/** out = p + q, or p − q where `negate` is 1. */
export function pointAdd(out: usize, p: usize, q: usize, negate: i32): i32 {
  if (decompress(P, p, q) != 3) return 0;
  swapPoint(Q, P);
  toCached(O, Q);
  if (negate) subCached(P, P, O, false);
  else addCached(P, P, O, false);
  encode(out, SPARE, P);
  return 1;
}

/** out = Σ of n points. */
export function pointSum(out: usize, points: usize, n: i32): i32 {
  setIdentity(O);
  for (let i = 0; i < n; i += 2) {
    const isPair = i + 1 < n;
    if (decompress(P, points + 32 * i, points + 32 * (isPair ? i + 1 : i)) != 3) return 0;
    toCached(Q, P);
    if (!isPair) gatherPairs(Q, Q, IDENTITY_CACHED);
    addCached(O, O, Q, true);
  }
  swapPoint(P, O);
  toCached(Q, P);
  addCached(O, O, Q, false);
  encode(out, SPARE, O);
  return 1;
}

export function multiplyBy8(out: usize, p: usize): i32 {
  if (decompress(P, p, p) != 3) return 0;
  mulBy8(P, P, false);
  encode(out, SPARE, P);
  return 1;
}

/** out_i = s_i·P_i, constant time in the scalars; `out` of 32·(n + n mod 2) bytes. */
export function scalarMultPoints(out: usize, scalars: usize, points: usize, n: i32): i32 {
  const mark = arenaMark(), products = alloc(PT * ((n + 1) >> 1));
  let areValid = 1;
  for (let i = 0; i < n && areValid; i += 2) {
    const x = 32 * i, y = 32 * (i + 1 < n ? i + 1 : i);
    areValid = i32(decompress(P, points + x, points + y) == 3);
    if (areValid) scalarMult(products + PT * (i >> 1), P, scalars + x, scalars + y);
  }
  if (areValid) encodeBatch(out, products, (n + 1) >> 1);
  arenaRewind(mark);
  return areValid;
}

/**
 * s·P_i, 8·s·P_i, t_i·G and t_i·P_i of n points, constant time in the scalars: four vectors of 32·(n + n mod 2) bytes
 * at `out`.
 */
export function shareSecret(out: usize, s: usize, t: usize, points: usize, n: i32): i32 {
  const mark = arenaMark(), pairs = (n + 1) >> 1, step = PT * pairs, products = alloc(4 * step);
  let areValid = 1;
  for (let i = 0; i < n; i += 2) {
    const x = 32 * i, y = 32 * (i + 1 < n ? i + 1 : i), first = products + PT * (i >> 1);
    areValid = i32(decompress(P, points + x, points + y) == 3);
    if (!areValid) break;
    scalarMultTwice(first, first + 3 * step, P, s, s, t + x, t + y);
    mulBy8(first + step, first, false);
    baseMultAt(first + 2 * step, t, i, n);
  }
  if (areValid) encodeBatch(out, products, 4 * pairs);
  arenaRewind(mark);
  return areValid;
}

/** out_i = s_i·hash-to-point of 32 bytes, constant time in the scalars; `out` of 32·(n + n mod 2) bytes. */
export function scalarMultHashed(out: usize, scalars: usize, data: usize, n: i32): void {
  const mark = arenaMark(), products = alloc(PT * ((n + 1) >> 1));
  for (let i = 0; i < n; i += 2) {
    const x = 32 * i, y = 32 * (i + 1 < n ? i + 1 : i);
    hashToPoint(P, data + x, data + y, true);
    scalarMult(products + PT * (i >> 1), P, scalars + x, scalars + y);
  }
  encodeBatch(out, products, (n + 1) >> 1);
  arenaRewind(mark);
}

/** s_i·G and s_i·hash-to-point of 32 bytes, constant time in the scalars: two vectors of 32·(n + n mod 2) bytes at `out`. */
export function commitTwice(out: usize, scalars: usize, data: usize, n: i32): void {
  const mark = arenaMark(), pairs = (n + 1) >> 1, products = alloc(2 * PT * pairs);
  for (let i = 0; i < n; i += 2) {
    const x = 32 * i, y = 32 * (i + 1 < n ? i + 1 : i), first = products + PT * (i >> 1);
    baseMultAt(first, scalars, i, n);
    hashToPoint(P, data + x, data + y, true);
    scalarMult(first + PT * pairs, P, scalars + x, scalars + y);
  }
  encodeBatch(out, products, 2 * pairs);
  arenaRewind(mark);
}

/** o = s_i·G, s_i+1·G; of the last of an odd number alone. */
@inline function baseMultAt(o: usize, scalars: usize, i: i32, n: i32): void {
  if (i + 1 < n) baseMult(o, scalars + 32 * i, scalars + 32 * (i + 1));
  else baseMultSingle(o, scalars + 32 * i);
}

/** out_i = s_i·G, constant time; `out` of 32·(n + n mod 2) bytes. */
export function scalarMultBase(out: usize, scalars: usize, n: i32): void {
  const mark = arenaMark(), points = alloc(PT * ((n + 1) >> 1));
  for (let i = 0; i < n; i += 2) baseMultAt(points + PT * (i >> 1), scalars, i, n);
  encodeBatch(out, points, (n + 1) >> 1);
  arenaRewind(mark);
}

/** out_i = a_i·A_i + b_i·B_i; `out` of 32·(n + n mod 2) bytes. */
export function doubleScalarMultBatch(out: usize, a: usize, aPoints: usize, b: usize, bPoints: usize, n: i32): i32 {
  const mark = arenaMark(), points = alloc(PT * ((n + 1) >> 1));
  for (let i = 0; i < n; i += 2) {
    const x = 32 * i, y = 32 * (i + 1 < n ? i + 1 : i);
    if ((decompress(P, aPoints + x, aPoints + y) & decompress(Q, bPoints + x, bPoints + y)) != 3) return 0;
    doubleScalarMult(points + PT * (i >> 1), P, a + x, a + y, Q, b + x, b + y);
  }
  encodeBatch(out, points, (n + 1) >> 1);
  arenaRewind(mark);
  return 1;
}

/** out_2i, out_2i+1 = a_i·A_2i + b_i·B_2i, a_i·A_2i+1 + b_i·B_2i+1: the two lanes have the same digits. */
export function twinScalarMult(out: usize, a: usize, aPoints: usize, b: usize, bPoints: usize, n: i32): i32 {
  const mark = arenaMark(), points = alloc(PT * n), digits = alloc(512);
  for (let i = 0; i < n; ++i) {
    const x = 64 * i, y = x + 32;
    if ((decompress(P, aPoints + x, aPoints + y) & decompress(Q, bPoints + x, bPoints + y)) != 3) return 0;
    const top = max(prepareDigits(digits, a + 32 * i), prepareDigits(digits + 256, b + 32 * i));
    combineByDigits(points + PT * i, P, digits, Q, digits + 256, top);
  }
  encodeBatch(out, points, n);
  arenaRewind(mark);
  return 1;
}

/** out_i = a·A_i + b·B_i, the same two scalars for all; `out` of 32·(n + n mod 2) bytes. */
export function foldPoints(out: usize, a: usize, aPoints: usize, b: usize, bPoints: usize, n: i32): i32 {
  const mark = arenaMark(), points = alloc(PT * ((n + 1) >> 1)), digits = alloc(512);
  const top = max(prepareDigits(digits, a), prepareDigits(digits + 256, b));
  for (let i = 0; i < n; i += 2) {
    const x = 32 * i, y = 32 * (i + 1 < n ? i + 1 : i);
    if ((decompress(P, aPoints + x, aPoints + y) & decompress(Q, bPoints + x, bPoints + y)) != 3) return 0;
    combineByDigits(points + PT * (i >> 1), P, digits, Q, digits + 256, top);
  }
  encodeBatch(out, points, (n + 1) >> 1);
  arenaRewind(mark);
  return 1;
}

/** out_i = hash-to-point of 32 bytes; `out` of 32·(n + n mod 2) bytes. */
export function hashToPoints(out: usize, data: usize, n: i32): void {
  const mark = arenaMark(), points = alloc(PT * ((n + 1) >> 1));
  for (let i = 0; i < n; i += 2) hashToPoint(points + PT * (i >> 1), data + 32 * i, data + 32 * (i + 1 < n ? i + 1 : i), false);
  encodeBatch(out, points, (n + 1) >> 1);
  arenaRewind(mark);
}

/** Overwrites what a multiplication by a secret leaves. */
export function wipePoints(): void {
  memory.fill(P, 0, PT);
  memory.fill(Q, 0, PT);
  memory.fill(O, 0, PT);
  memory.fill(SPARE, 0, 32);
}
