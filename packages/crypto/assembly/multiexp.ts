/**
 * Σ s_i·P_i over affine summands of one lane.
 *
 * Variable time: Pippenger's buckets with signed digits. The two lanes work on two neighbouring windows of the same
 * point, each with its own buckets, so they never meet in memory. Source: Pippenger, "On the evaluation of powers and
 * related problems", 1976; Bernstein et al., "Faster batch forgery identification", §4.
 * Constant time: Straus with fixed windows and masked table scans, for provers.
 */
import {
  AFFINE1, IDENTITY, PT, PT1, addAffine, addCached, copyPoint, dbl, decompress, encode, gatherAffineSigned, gatherPoint, multiples,
  scatterAffine, scatterPoint, setIdentity, swapPoint, toAffine, toCached,
} from "./point";
import { addScanned } from "./mult";
import { radix16 } from "./digits";
import { generatorSummands } from "./generators";
import { alloc, arenaMark, arenaRewind } from "./arena";

const P: usize = memory.data(4 * 160, 16), Q: usize = memory.data(4 * 160, 16), RUNNING: usize = memory.data(4 * 160, 16);
const TOTAL: usize = memory.data(4 * 160, 16), RESULT: usize = memory.data(4 * 160, 16), SPARE: usize = memory.data(32, 16);

/** How many bits the largest of n scalars has, at least 1. */
function bitsOf(scalars: usize, n: i32): i32 {
  let most = 1;
  for (let i = 0; i < n; ++i) {
    let word = 3;
    while (word > 0 && load<u64>(scalars + 32 * i + 8 * word) == 0) --word;
    most = max(most, 64 * word + 64 - <i32>clz<u64>(load<u64>(scalars + 32 * i + 8 * word)));
  }
  return most;
}

/** Windows of `width` bits that hold `bits` bits and a carry, an even number. */
@inline function windowsOf(bits: i32, width: i32): i32 {
  const windows = bits / width + 1;
  return windows + (windows & 1);
}

/** The width of least cost: a term costs one mixed addition a window, a bucket two additions and two conversions. */
function bestWidth(n: i32, bits: i32): i32 {
  let best = 2, least = i32.MAX_VALUE;
  for (let width = 2; width <= 12; ++width) {
    const cost = windowsOf(bits, width) * (2 * n + 5 * (1 << (width - 1)));
    if (cost < least) {
      least = cost;
      best = width;
    }
  }
  return best;
}

/** `windows` signed digits of 16 bits in [−2^(width−1), 2^(width−1)], least first. */
function writeDigits(digits: usize, scalar: usize, width: i32, windows: i32): void {
  const half = 1 << (width - 1), mask = (1 << width) - 1;
  let carry = 0;
  for (let w = 0; w < windows; ++w) {
    const bit = w * width;
    let digit = carry;
    if (bit < 256) {
      // The word may reach over the scalar's end; what is above bit 255 is not part of it.
      let word = <i32>(load<u32>(scalar + (bit >> 3)) >> (bit & 7)) & mask;
      if (bit + width > 256) word &= (1 << (256 - bit)) - 1;
      digit += word;
    }
    carry = i32(digit > half);
    store<i16>(digits + 2 * w, <i16>(digit - (carry << width)));
  }
}

/** `count` one-lane buckets at `buckets` = identity. */
function clearBuckets(buckets: usize, count: i32): void {
  scatterPoint(buckets, buckets, IDENTITY);
  for (let b = 1; b < count; ++b) memory.copy(buckets + PT1 * b, buckets, PT1);
}

/** TOTAL = Σ b·bucket_b over b = 1 … half, by a running sum from the top. */
function sumBuckets(low: usize, high: usize, half: i32): void {
  setIdentity(RUNNING);
  setIdentity(TOTAL);
  for (let b = half; b > 0; --b) {
    gatherPoint(P, low + PT1 * b, high + PT1 * b);
    toCached(Q, P);
    addCached(RUNNING, RUNNING, Q, true);
    toCached(Q, RUNNING);
    addCached(TOTAL, TOTAL, Q, true);
  }
}

/** o (both lanes) = Σ s_i·P_i; `points` holds n addresses of affine summands; scalars < 2^255. Variable time. */
export function pippenger(o: usize, scalars: usize, points: usize, n: i32): void {
  const mark = arenaMark(), bits = bitsOf(scalars, n), width = bestWidth(n, bits), windows = windowsOf(bits, width);
  const half = 1 << (width - 1), digits = alloc(2 * n * windows), low = alloc(2 * PT1 * (half + 1)), high = low + PT1 * (half + 1);
  for (let i = 0; i < n; ++i) writeDigits(digits + 2 * i * windows, scalars + 32 * i, width, windows);
  setIdentity(RESULT);
  for (let w = windows - 2; w >= 0; w -= 2) {
    clearBuckets(low, 2 * (half + 1));
    for (let i = 0; i < n; ++i) {
      const at = digits + 2 * (i * windows + w), d = <i32>load<i16>(at), e = <i32>load<i16>(at, 2);
      if ((d | e) == 0) continue;
      const point = <usize>load<u32>(points + 4 * i), x = low + PT1 * abs(d), y = high + PT1 * abs(e); // bucket 0 is never read
      gatherAffineSigned(Q, point, point, i32(d < 0), i32(e < 0));
      gatherPoint(P, x, y);
      addAffine(P, P, Q, true);
      scatterPoint(x, y, P);
    }
    sumBuckets(low, high, half);
    if (w < windows - 2) for (let i = 1; i <= 2 * width; ++i) dbl(RESULT, RESULT, i == 2 * width);
    toCached(Q, TOTAL);
    addCached(RESULT, RESULT, Q, true);
  }
  // Lane 1 holds the odd windows, which weigh 2^width more.
  copyPoint(P, RESULT);
  for (let i = 1; i <= width; ++i) dbl(P, P, i == width);
  swapPoint(P, P); // lane 0: 2^width·odd, lane 1: 2^width·even
  toCached(Q, P);
  addCached(o, RESULT, Q, true); // lane 0 is the sum
  arenaRewind(mark);
}

/** Decompresses n points into affine summands, AFFINE1 bytes apart (n + 1 places). Returns 0 where one is invalid. */
export function summandsOf(out: usize, points: usize, n: i32): i32 {
  let valid = 3;
  for (let i = 0; i < n; i += 2) {
    valid &= decompress(P, points + 32 * i, points + 32 * (i + 1 < n ? i + 1 : i));
    toAffine(Q, P);
    scatterAffine(out + AFFINE1 * i, out + AFFINE1 * (i + 1), Q);
  }
  return i32(valid == 3);
}

/** points[i] = address of the i-th of n summands from `summands` on. */
export function listSummands(points: usize, summands: usize, n: i32): void {
  for (let i = 0; i < n; ++i) store<u32>(points + 4 * i, <u32>(summands + AFFINE1 * i));
}

/**
 * out = Σ s_i·P_i + Σ s_(n+k)·generator_k for n encoded points and m generators; the n + m scalars end to end.
 * Returns 0 where a point is invalid.
 */
export function multiexpVartime(out: usize, scalars: usize, points: usize, n: i32, m: i32, plus: i32): i32 {
  const mark = arenaMark(), summands = alloc(AFFINE1 * (n + 1)), list = alloc(4 * (n + m));
  if (!summandsOf(summands, points, n)) return 0;
  listSummands(list, summands, n);
  if (m) listSummands(list + 4 * n, generatorSummands(plus, m), m);
  pippenger(RESULT, scalars, list, n + m);
  encode(out, SPARE, RESULT);
  arenaRewind(mark);
  return 1;
}

/** As `multiexpVartime`; neither time nor addresses depend on the scalars. */
export function multiexp(out: usize, scalars: usize, points: usize, n: i32, m: i32, plus: i32): i32 {
  const mark = arenaMark(), all = n + m, pairs = (all + 1) >> 1;
  const summands = alloc(AFFINE1 * (n + 1)), list = alloc(4 * (all + 1)), tables = alloc(8 * PT * pairs), digits = alloc(64 * (all + 1));
  if (!summandsOf(summands, points, n)) return 0;
  listSummands(list, summands, n);
  if (m) listSummands(list + 4 * n, generatorSummands(plus, m), m);
  for (let i = 0; i < all; ++i) radix16(digits + 64 * i, scalars + 32 * i);
  if (all & 1) {
    store<u32>(list + 4 * all, load<u32>(list)); // an absent last point counts 0 times
    memory.fill(digits + 64 * all, 0, 64);
  }
  for (let i = 0; i < pairs; ++i) {
    gatherAffineSigned(Q, load<u32>(list + 8 * i), load<u32>(list + 8 * i, 4), 0, 0);
    addAffine(P, IDENTITY, Q, true);
    multiples(tables + 8 * PT * i, P, 8);
  }
  setIdentity(RESULT);
  for (let w = 63; w >= 0; --w) {
    if (w < 63) for (let i = 1; i <= 4; ++i) dbl(RESULT, RESULT, i == 4);
    for (let i = 0; i < pairs; ++i) {
      const at = digits + 128 * i + w;
      addScanned(RESULT, tables + 8 * PT * i, <i32>load<i8>(at), <i32>load<i8>(at, 64));
    }
  }
  swapPoint(P, RESULT);
  toCached(Q, P);
  addCached(RESULT, RESULT, Q, false);
  encode(out, SPARE, RESULT);
  arenaRewind(mark);
  return 1;
}

/** Overwrites what the constant-time form leaves. */
export function wipeMultiexp(): void {
  memory.fill(P, 0, PT);
  memory.fill(Q, 0, PT);
  memory.fill(RESULT, 0, PT);
  memory.fill(SPARE, 0, 32);
}
