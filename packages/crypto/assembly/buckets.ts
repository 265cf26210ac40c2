/**
 * Σ s_i·P_i over affine summands of one lane by Pippenger's buckets with signed digits, for public scalars. Source:
 * Pippenger, "On the evaluation of powers and related problems", 1976; Bernstein et al., "Faster batch forgery
 * identification", §4.
 */
import {
  AFFINE1, IDENTITY, IDENTITY_CACHED, PT, PT1, addAffine, addCached, copyPoint, dbl, dblTimes, gatherAffineSigned,
  gatherPairs, gatherPoint, scatterPoint, setIdentity, swapPoint, toCached,
} from "./point";
import { SCALAR_ZERO, scSub } from "./scalar";
import { normalizeBatch, storeSummands } from "./affine";
import { generatorSummands } from "./generators";
import { alloc, arenaMark, arenaRewind } from "./arena";

const P: usize = memory.data(4 * 160, 16), Q: usize = memory.data(4 * 160, 16), RUNNING: usize = memory.data(4 * 160, 16);
const TOTAL: usize = memory.data(4 * 160, 16), RESULT: usize = memory.data(4 * 160, 16);

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

/** Adds the summand x to the point at `at`, and y to the one at `beside`, negated where its flag (0 | 1) is set. */
@inline function addSummands(at: usize, beside: usize, x: usize, y: usize, negateX: i32, negateY: i32): void {
  gatherAffineSigned(Q, x, y, negateX, negateY);
  gatherPoint(P, at, beside);
  addAffine(P, P, Q, true);
  scatterPoint(at, beside, P);
}

/** Adds one two-lane summand, digit d of x to the low buckets and digit e of y to the high ones. */
@inline function addToBuckets(low: usize, high: usize, x: usize, y: usize, d: i32, e: i32): void {
  if ((d | e) == 0) return;
  // What gets into bucket 0 is never read.
  addSummands(low + PT1 * abs(d), high + PT1 * abs(e), x, y, i32(d < 0), i32(e < 0));
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

/**
 * o (lane 0) = Σ s_i·P_i; `points` holds n addresses of affine summands; scalars < 2^255. The two lanes work on two
 * neighbouring windows of the same point, each with its own buckets, so they never meet in memory.
 */
export function pippenger(o: usize, scalars: usize, points: usize, n: i32): void {
  const mark = arenaMark(), bits = bitsOf(scalars, n), width = bestWidth(n, bits), windows = windowsOf(bits, width);
  const half = 1 << (width - 1), digits = alloc(2 * n * windows), low = alloc(2 * PT1 * (half + 1)), high = low + PT1 * (half + 1);
  for (let i = 0; i < n; ++i) writeDigits(digits + 2 * i * windows, scalars + 32 * i, width, windows);
  setIdentity(RESULT);
  for (let w = windows - 2; w >= 0; w -= 2) {
    clearBuckets(low, 2 * (half + 1));
    for (let i = 0; i < n; ++i) {
      const at = digits + 2 * (i * windows + w), point = <usize>load<u32>(points + 4 * i);
      addToBuckets(low, high, point, point, <i32>load<i16>(at), <i32>load<i16>(at, 2));
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

/** Range proof generators that have tables: those of two amounts. */
export const MOST_TABLED: i32 = 256;
/** 28 windows of 9 bits hold any scalar up to ℓ/2 without a carry at the end; buckets of both lanes take 40 KB. */
const FIXED_WIDTH: i32 = 9, FIXED_WINDOWS: i32 = 28;
/** Digits up to this size are lane 0's, larger ones lane 1's. */
const LANE_BITS: i32 = 7, LANE_DIGITS: i32 = 128;
/** 2^(9·w)·generator_k at entry 28·k + w. 0.9 MB, which is read once from end to end. */
const TABLE: usize = memory.data(256 * 28 * 120, 16);
let tabled: i32 = 0;

/** Computes the tables of the first `count` generators of the "bulletproof_plus" family; 40 µs a pair. */
function extendTable(count: i32): void {
  const mark = arenaMark(), points = alloc(PT * FIXED_WINDOWS), summands = generatorSummands(1, count), row = AFFINE1 * FIXED_WINDOWS;
  for (; tabled < count; tabled += 2) {
    gatherAffineSigned(Q, summands + AFFINE1 * tabled, summands + AFFINE1 * (tabled + 1), 0, 0);
    addAffine(points, IDENTITY, Q, true);
    for (let w = 1; w < FIXED_WINDOWS; ++w) dblTimes(points + PT * w, points + PT * (w - 1), FIXED_WIDTH);
    normalizeBatch(points, FIXED_WINDOWS);
    storeSummands(TABLE + row * tabled, TABLE + row * (tabled + 1), AFFINE1, points, FIXED_WINDOWS);
  }
  arenaRewind(mark);
}

/** A summand on its way to a bucket of its lane. */
@unmanaged class Waiting {
  point: u32;
  bucket: u16;
  isNegated: u16;
}
const WAITING: usize = 8;

/** Summands waiting for each lane: addresses of the next free places. */
let queue0: usize = 0, queue1: usize = 0;
const FOLDED: usize = memory.data(32, 16);

/** 2^251: of s and ℓ − s, one is at most little more. */
@inline function isLarge(scalar: usize): bool {
  return load<u64>(scalar, 24) >> 59 != 0;
}

/** Queues what s·generator_k adds to the buckets; for a large s what ℓ − s takes away. */
function enqueue(k: i32, scalar: usize, digits: usize): void {
  const large = i32(isLarge(scalar)), row = TABLE + AFFINE1 * FIXED_WINDOWS * k;
  if (large) scSub(FOLDED, SCALAR_ZERO, scalar);
  writeDigits(digits, large ? FOLDED : scalar, FIXED_WIDTH, FIXED_WINDOWS);
  for (let w = 0; w < FIXED_WINDOWS; ++w) {
    const digit = <i32>load<i16>(digits + 2 * w), sign = digit >> 31, size = (digit ^ sign) - sign;
    const isUpper = (LANE_DIGITS - size) >> 31; // all bits, or none: a branch here could not be foreseen
    const waiting = changetype<Waiting>(queue0 ^ ((queue0 ^ queue1) & isUpper));
    waiting.point = <u32>(row + AFFINE1 * w);
    waiting.bucket = <u16>(size - (LANE_DIGITS & isUpper));
    waiting.isNegated = <u16>((sign ^ large) & 1);
    queue0 += WAITING & ~isUpper;
    queue1 += WAITING & isUpper;
  }
}

/** Fills a queue up to `end` with summands for bucket 0, which is never read. */
function fillUp(from: usize, end: usize): void {
  for (let at = from; at < end; at += WAITING) {
    const waiting = changetype<Waiting>(at);
    waiting.point = <u32>TABLE;
    waiting.bucket = waiting.isNegated = 0;
  }
}

/**
 * o (both lanes) = Σ s_k·generator_k over the first n ≤ MOST_TABLED generators, scalars < ℓ. All windows of a
 * point share one set of buckets, since their weight is in the table: no doublings, and buckets are summed once. The
 * lanes work on different digits, so they never meet in a bucket, and each has about half of all summands.
 */
export function sumGenerators(o: usize, scalars: usize, n: i32): void {
  if (n > tabled) extendTable(n);
  const mark = arenaMark(), digits = alloc(2 * FIXED_WINDOWS), room = WAITING * n * FIXED_WINDOWS;
  const first0 = alloc(room), first1 = alloc(room);
  queue0 = first0;
  queue1 = first1;
  for (let k = 0; k < n; ++k) enqueue(k, scalars + 32 * k, digits);
  const length = max(queue0 - first0, queue1 - first1);
  fillUp(queue0, first0 + length);
  fillUp(queue1, first1 + length);
  const low = alloc(2 * PT1 * (LANE_DIGITS + 1)), high = low + PT1 * (LANE_DIGITS + 1);
  clearBuckets(low, 2 * (LANE_DIGITS + 1));
  for (let at: usize = 0; at < length; at += WAITING) {
    const x = changetype<Waiting>(first0 + at), y = changetype<Waiting>(first1 + at);
    addSummands(low + PT1 * x.bucket, high + PT1 * y.bucket, x.point, y.point, x.isNegated, y.isNegated);
  }
  sumBuckets(low, high, LANE_DIGITS);
  dblTimes(P, RUNNING, LANE_BITS); // the sum of lane 1's buckets, each of which weighs LANE_DIGITS more
  toCached(Q, P);
  gatherPairs(Q, IDENTITY_CACHED, Q);
  addCached(TOTAL, TOTAL, Q, true);
  swapPoint(P, TOTAL);
  toCached(Q, P);
  addCached(o, TOTAL, Q, true);
  arenaRewind(mark);
}
