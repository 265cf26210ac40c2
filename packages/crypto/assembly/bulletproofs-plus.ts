/**
 * Bulletproofs+ verification of many proofs by one weighted sum. With the notation of the paper, m amounts padded to a
 * power of two, N = 64·m, challenges y, z, x_1 … x_r, e and a random weight w, each proof says that
 *
 *   w·[ −e²·Σ_j z^(2j)·y^(N+1)·V_j − B − e·A1 − e²·(A + Σ_j x_j²·L_j + x_j^−2·R_j) + d1·G
 *     + (r1·y·s1 + e²·(y^(N+1)·z·Σd + (z² − z)·Σ_(i=1…N) y^i))·H
 *     + Σ_i (e·r1·y^−i·P_i + e²·z)·G_i + Σ_i (e·s1·P_(N−1−i) − e²·(z + y^(N−i)·d_i))·H_i ]
 *
 * is the identity, where P_i = Π_j x_j^±1 with + where bit r − j of i is set, and d_(64·j+b) = z^(2(j+1))·2^b. Points of a
 * proof are on the wire divided by 8: instead of multiplying each by 8, the whole sum is, and the factors of the
 * generators, which have prime order, are divided by 8. P_i and y^N−i·d_i split into (upper bits of i)·(lower bits),
 * so a generator costs one or two multiplications. Source: https://eprint.iacr.org/2020/735 §6.1; bulletproofs_plus.cc.
 */
import {
  AFFINE1, BASE, PT, addCached, decompress, encodeBatch, identityLanes, mulBy8, scatterAffine, toAffine, toCached,
} from "./point";
import { hashToPoint } from "./elligator";
import { encodeNormalized, normalizeBatch, storeSummands } from "./affine";
import { hashToScalar, keccak256 } from "./keccak";
import {
  INVERSE_EIGHT, SCALAR_ONE, SCALAR_ZERO, scAdd, scIsCanonical, scIsZero, scMul, scMulAdd, scReduce32, scSub,
} from "./scalar";
import { COLUMNS, MOST_PRODUCTS, UNPACKED, addProduct, foldColumns, foldInPlace, unpack } from "./scalar-sum";
import { invertBatch } from "./scalar-vector";
import { multByDigits, prepareDigits } from "./mult";
import { H_BYTES, generatorSummands } from "./generators";
import { MOST_TABLED, sumGenerators } from "./buckets";
import { listSummands, sumTerms, summandsOf } from "./multiexp";
import { alloc } from "./arena";

/** A proof as placed by the JavaScript side; `outputs` is 1 … 16. */
@unmanaged class Proof {
  /** 32·outputs bytes, not divided by 8. */
  commitments: u32;
  /** A ‖ A1 ‖ B ‖ L ‖ R: 32·(3 + 2·rounds) bytes. */
  points: u32;
  /** r1 ‖ s1 ‖ d1. */
  scalars: u32;
  outputs: i32;
}
const PROOF: usize = 16;

/** Challenges of a proof, 32 bytes each: y, z, e, then x_1 … x_r and y again, which are inverted together. */
const Y_AT: usize = 0, Z_AT: usize = 32, E_AT: usize = 64, ROUNDS_AT: usize = 96;
const CHALLENGES: usize = 96 + 32 * 11;

@inline function roundsOf(outputs: i32): i32 {
  return 6 + 32 - clz(outputs - 1);
}

const INITIAL: usize = memory.data(64, 16);
const INITIAL_TEXT: usize = memory.data<u64>([0x727074656c6c7562, 0x73756c705f666f6f, 0x7263736e6172745f, 0x0000000000747069]); // "bulletproof_plus_transcript"
const MESSAGE: usize = memory.data(96, 16);
let isReady: bool = false;
/** Affine summands of G and H, one lane each. */
const PEDERSEN: usize = memory.data(2 * 120, 16);
const P: usize = memory.data(4 * 160, 16), Q: usize = memory.data(4 * 160, 16);

function prepare(): void {
  keccak256(INITIAL, INITIAL_TEXT, 27);
  hashToPoint(P, INITIAL, INITIAL, false);
  encodeBatch(INITIAL, P, 1);
  decompress(P, H_BYTES, H_BYTES);
  toAffine(Q, P);
  scatterAffine(PEDERSEN + AFFINE1, PEDERSEN + AFFINE1, Q);
  toAffine(Q, BASE);
  scatterAffine(PEDERSEN, PEDERSEN, Q);
  isReady = true;
}

/** transcript' = Hs(transcript ‖ a ‖ b), both MESSAGE and out; 0 if it is zero. */
function next(out: usize, a: usize, b: usize): i32 {
  memory.copy(MESSAGE + 32, a, 32);
  if (b) memory.copy(MESSAGE + 64, b, 32);
  hashToScalar(MESSAGE, MESSAGE, b ? 96 : 64);
  memory.copy(out, MESSAGE, 32);
  return i32(!scIsZero(out));
}

/** The Fiat–Shamir challenges from the divided commitments; 0 if one of them is zero. */
function readChallenges(o: usize, proof: Proof, divided: usize): i32 {
  const rounds = roundsOf(proof.outputs), left = proof.points + 96, right = left + 32 * rounds;
  memory.copy(MESSAGE, INITIAL, 32);
  hashToScalar(MESSAGE + 32, divided, 32 * proof.outputs);
  next(o + Y_AT, MESSAGE + 32, 0);
  let isGood = next(o + Y_AT, proof.points, 0);
  hashToScalar(o + Z_AT, o + Y_AT, 32);
  memory.copy(MESSAGE, o + Z_AT, 32);
  isGood &= i32(!scIsZero(o + Z_AT));
  for (let j = 0; j < rounds; ++j) isGood &= next(o + ROUNDS_AT + 32 * j, left + 32 * j, right + 32 * j);
  memory.copy(o + ROUNDS_AT + 32 * rounds, o + Y_AT, 32);
  return isGood & next(o + E_AT, proof.points + 32, proof.points + 64);
}

/** Room for a proof's scalars; each name is the address of 32 bytes. */
const TEMPORARIES: usize = memory.data(32 * 20, 16);
const W: usize = TEMPORARIES, W8: usize = TEMPORARIES + 32, E2: usize = TEMPORARIES + 64, Z2: usize = TEMPORARIES + 96;
const Y_N: usize = TEMPORARIES + 128, Y_N1: usize = TEMPORARIES + 160, SUM_Y: usize = TEMPORARIES + 192, SUM_D: usize = TEMPORARIES + 224;
const POWER: usize = TEMPORARIES + 256, A: usize = TEMPORARIES + 288, B: usize = TEMPORARIES + 320, MINUS_E2_W: usize = TEMPORARIES + 352;
const STEP: usize = TEMPORARIES + 384;
/** 2^64 − 1. */
const AMOUNTS: usize = memory.data<u64>([u64.MAX_VALUE, 0, 0, 0]);
const TWO: usize = memory.data<u64>([2, 0, 0, 0]);

/** o = x + x² + … + x^n, and xn = x^n, for n = 2^log. */
function sumOfPowers(o: usize, xn: usize, x: usize, log: i32): void {
  memory.copy(o, x, 32);
  memory.copy(xn, x, 32);
  for (let i = 0; i < log; ++i) {
    scMulAdd(o, o, xn, o); // the upper half is the lower half times x^(n/2)
    scMul(xn, xn, xn);
  }
}

/** The sums a batch collects. */
@unmanaged class Sums {
  /** Factors of the proofs' own points, in the order of `writeOwn`; advances. */
  own: u32;
  /** Factors of G and H, then of the generators (index 2i: H_i, 2i + 1: G_i). */
  pedersen: u32;
  generators: u32;
  /** The same sums before reduction, COLUMNS bytes each. */
  columns: u32;
  /** Per number of rounds (6 … 10) the part of the factors that is the same for all H_i, and for all G_i: 64 bytes each. */
  uniform: u32;
}

/** Prepares the temporaries of a proof. */
function preparePowers(proof: Proof, c: usize, weight: usize): void {
  const log = roundsOf(proof.outputs);
  scReduce32(W, weight);
  scMul(W8, W, INVERSE_EIGHT);
  scMul(E2, c + E_AT, c + E_AT);
  scMul(Z2, c + Z_AT, c + Z_AT);
  sumOfPowers(SUM_Y, Y_N, c + Y_AT, log);
  scMul(Y_N1, Y_N, c + Y_AT);
  sumOfPowers(SUM_D, A, Z2, log - 6);
  scMul(SUM_D, SUM_D, AMOUNTS);
  scMul(A, E2, W);
  scSub(MINUS_E2_W, SCALAR_ZERO, A);
}

@inline function push(sums: Sums, value: usize): void {
  memory.copy(sums.own, value, 32);
  sums.own += 32;
}

/** Factors of V_j, then of A, A1, B, L_j, R_j. */
function writeOwn(sums: Sums, proof: Proof, c: usize, inverses: usize): void {
  const rounds = roundsOf(proof.outputs);
  scMul(A, MINUS_E2_W, Y_N1);
  for (let j = 0; j < proof.outputs; ++j) {
    scMul(A, A, Z2);
    push(sums, A); // −w·e²·z^(2j)·y^(N+1)
  }
  push(sums, MINUS_E2_W);
  scSub(A, SCALAR_ZERO, W);
  scMul(B, A, c + E_AT);
  push(sums, B); // −w·e
  push(sums, A); // −w
  for (let side = 0; side < 2; ++side) {
    for (let j = 0; j < rounds; ++j) {
      const x = (side ? inverses : c + ROUNDS_AT) + 32 * j;
      scMul(A, x, x);
      scMul(A, A, MINUS_E2_W);
      push(sums, A);
    }
  }
}

/** Adds to the factors of G and H. */
function addPedersen(sums: Sums, proof: Proof, c: usize): void {
  const r1 = proof.scalars, s1 = r1 + 32, d1 = r1 + 64;
  scMulAdd(sums.pedersen, W8, d1, sums.pedersen);
  scSub(A, Z2, c + Z_AT);
  scMul(A, A, SUM_Y);
  scMul(B, Y_N1, c + Z_AT);
  scMulAdd(A, B, SUM_D, A);
  scMul(B, r1, c + Y_AT);
  scMul(B, B, s1);
  scMulAdd(A, A, E2, B);
  scMulAdd(sums.pedersen + 32, W8, A, sums.pedersen + 32);
}

/**
 * Products over the lower bits of an index, and over the upper bits: for G_i, for H_i, and for the decomposition of the
 * amounts, which concerns H_i too. First as scalars, then unpacked.
 */
const LOW_G: usize = memory.data(32 * 32, 16), HIGH_G: usize = memory.data(32 * 32, 16);
const LOW_H: usize = memory.data(32 * 32, 16), HIGH_H: usize = memory.data(32 * 32, 16);
const LOW_D: usize = memory.data(64 * 32, 16), HIGH_D: usize = memory.data(16 * 32, 16);
const LOW_G_LIMBS: usize = memory.data(32 * 72, 16), HIGH_G_LIMBS: usize = memory.data(32 * 72, 16);
const LOW_H_LIMBS: usize = memory.data(32 * 72, 16), HIGH_H_LIMBS: usize = memory.data(32 * 72, 16);
const LOW_D_LIMBS: usize = memory.data(64 * 72, 16), HIGH_D_LIMBS: usize = memory.data(16 * 72, 16);

/** An H_i takes two products of each proof. */
const PROOFS_PER_FOLD: i32 = MOST_PRODUCTS / 2;

/** Doubles a table of `size` products by one more bit on top: clear multiplies by a, set by b. */
function extend(table: usize, size: i32, a: usize, b: usize): void {
  for (let i = 0; i < size; ++i) scMul(table + 32 * (size + i), table + 32 * i, b);
  for (let i = 0; i < size; ++i) scMul(table + 32 * i, table + 32 * i, a);
}

/** LOW·HIGH at (i mod 32, i / 32) = w8·e·r1·y^−i·P_i for G; w8·e·s1·P_(N−1−i) for H. */
function prepareProducts(proof: Proof, c: usize, inverses: usize): void {
  const rounds = roundsOf(proof.outputs), lowBits = 5;
  memory.copy(LOW_G, SCALAR_ONE, 32);
  memory.copy(LOW_H, SCALAR_ONE, 32);
  scMul(A, W8, c + E_AT);
  scMul(HIGH_G, A, proof.scalars);
  scMul(HIGH_H, A, proof.scalars + 32);
  memory.copy(POWER, inverses + 32 * rounds, 32); // y^−1, then y^−2, y^−4, …
  for (let bit = 0; bit < rounds; ++bit) {
    const x = c + ROUNDS_AT + 32 * (rounds - 1 - bit), xInverse = inverses + 32 * (rounds - 1 - bit);
    scMul(B, x, POWER);
    scMul(POWER, POWER, POWER);
    const isLow = bit < lowBits, size = 1 << (isLow ? bit : bit - lowBits);
    extend(isLow ? LOW_G : HIGH_G, size, xInverse, B);
    extend(isLow ? LOW_H : HIGH_H, size, x, xInverse);
  }
  const high = 1 << (rounds - lowBits);
  unpack(LOW_G_LIMBS, LOW_G, 32);
  unpack(LOW_H_LIMBS, LOW_H, 32);
  unpack(HIGH_G_LIMBS, HIGH_G, high);
  unpack(HIGH_H_LIMBS, HIGH_H, high);
}

/** LOW_D·HIGH_D at (b, j) = −w8·e²·y^(N−64j−b)·z^(2(j+1))·2^b. */
function prepareDecomposition(proof: Proof, inverses: usize): void {
  const rounds = roundsOf(proof.outputs), yInverse = inverses + 32 * rounds, groups = 1 << (rounds - 6);
  scMul(STEP, yInverse, TWO);
  memory.copy(LOW_D, SCALAR_ONE, 32);
  for (let b = 1; b < 64; ++b) scMul(LOW_D + 32 * b, LOW_D + 32 * (b - 1), STEP);
  memory.copy(POWER, yInverse, 32);
  for (let i = 0; i < 6; ++i) scMul(POWER, POWER, POWER); // y^−64
  scMul(POWER, POWER, Z2);
  scMul(A, MINUS_E2_W, INVERSE_EIGHT);
  scMul(A, A, Y_N);
  scMul(HIGH_D, A, Z2);
  for (let j = 1; j < groups; ++j) scMul(HIGH_D + 32 * j, HIGH_D + 32 * (j - 1), POWER);
  unpack(LOW_D_LIMBS, LOW_D, 64);
  unpack(HIGH_D_LIMBS, HIGH_D, groups);
}

/** Adds to the sums of the generators: one product for a G_i, two for an H_i. */
function addGenerators(sums: Sums, proof: Proof, c: usize, inverses: usize): void {
  const rounds = roundsOf(proof.outputs), size = 1 << rounds, uniform = sums.uniform + 64 * (rounds - 6);
  prepareProducts(proof, c, inverses);
  prepareDecomposition(proof, inverses);
  for (let i = 0; i < size; ++i) {
    const h = sums.columns + 2 * COLUMNS * i, g = h + COLUMNS;
    addProduct(g, LOW_G_LIMBS + UNPACKED * (i & 31), HIGH_G_LIMBS + UNPACKED * (i >> 5));
    addProduct(h, LOW_H_LIMBS + UNPACKED * (i & 31), HIGH_H_LIMBS + UNPACKED * (i >> 5));
    addProduct(h, LOW_D_LIMBS + UNPACKED * (i & 63), HIGH_D_LIMBS + UNPACKED * (i >> 6));
  }
  scMul(A, MINUS_E2_W, INVERSE_EIGHT);
  scMul(A, A, c + Z_AT);
  scAdd(uniform, uniform, A); // −w8·e²·z for H_i
  scSub(uniform + 32, uniform + 32, A); // and its negative for G_i
}

/** Reduces the sums of the generators and adds the uniform parts: i takes part in every proof of more than i indices. */
function finishGenerators(sums: Sums, most: i32): void {
  for (let i = 0; i < 2 << most; ++i) foldColumns(sums.generators + 32 * i, sums.columns + COLUMNS * i);
  memory.copy(A, SCALAR_ZERO, 32);
  memory.copy(B, SCALAR_ZERO, 32);
  for (let rounds = most; rounds >= 6; --rounds) {
    const uniform = sums.uniform + 64 * (rounds - 6), from = rounds > 6 ? 1 << (rounds - 1) : 0;
    scAdd(A, A, uniform);
    scAdd(B, B, uniform + 32);
    for (let i = from; i < 1 << rounds; ++i) {
      const h = sums.generators + 64 * i;
      scAdd(h, h, A);
      scAdd(h + 32, h + 32, B);
    }
  }
}

/** The proofs of a batch laid out in memory, with how much they hold together. */
@unmanaged class Batch {
  proofs: u32;
  count: i32;
  /** All commitments, and all other points, of all proofs. */
  outputs: i32;
  points: i32;
  /** The largest number of rounds. */
  most: i32;
}
const BATCH: usize = memory.data(20, 4), SUMS: usize = memory.data(20, 4), UNIFORM: usize = memory.data(64 * 5, 16);

@inline function proofAt(batch: Batch, i: i32): Proof {
  return changetype<Proof>(batch.proofs + PROOF * i);
}

/** Counts; 0 where a scalar is not canonical. */
function measure(batch: Batch): i32 {
  batch.outputs = batch.points = batch.most = 0;
  for (let i = 0; i < batch.count; ++i) {
    const proof = proofAt(batch, i), rounds = roundsOf(proof.outputs);
    for (let k = 0; k < 96; k += 32) if (!scIsCanonical(proof.scalars + k)) return 0;
    batch.outputs += proof.outputs;
    batch.points += 3 + 2 * rounds;
    batch.most = max(batch.most, rounds);
  }
  return 1;
}

/** V/8 of all commitments: encodings to `encoded` and summands to `summands`, both with room for one more. */
function divideCommitments(batch: Batch, encoded: usize, summands: usize): i32 {
  const n = batch.outputs, pairs = (n + 1) >> 1, all = alloc(32 * n), points = alloc(PT * pairs), digits = alloc(256);
  for (let i = 0, at: usize = all; i < batch.count; ++i) {
    const proof = proofAt(batch, i);
    memory.copy(at, proof.commitments, 32 * proof.outputs);
    at += 32 * proof.outputs;
  }
  const top = prepareDigits(digits, INVERSE_EIGHT);
  for (let i = 0; i < n; i += 2) {
    if (decompress(P, all + 32 * i, all + 32 * (i + 1 < n ? i + 1 : i)) != 3) return 0;
    multByDigits(points + PT * (i >> 1), P, digits, top);
  }
  normalizeBatch(points, pairs);
  for (let k = 0; k < pairs; ++k) encodeNormalized(encoded + 64 * k, points + PT * k);
  storeSummands(summands, summands + AFFINE1, 2 * AFFINE1, points, pairs);
  return 1;
}

/** Challenges of all proofs and the inverses of their x_j and y, in the same places. */
function readAllChallenges(batch: Batch, challenges: usize, inverses: usize, encoded: usize): i32 {
  const values = alloc(32 * 11 * batch.count);
  let divided = encoded, n = 0;
  for (let i = 0; i < batch.count; ++i) {
    const proof = proofAt(batch, i), c = challenges + CHALLENGES * i, count = roundsOf(proof.outputs) + 1;
    if (!readChallenges(c, proof, divided)) return 0;
    memory.copy(values + 32 * n, c + ROUNDS_AT, 32 * count);
    divided += 32 * proof.outputs;
    n += count;
  }
  return invertBatch(inverses, values, n);
}

/** Decompresses the proofs' own points; lists V_j, then A, A1, B, L_j, R_j of each proof, in the order of `writeOwn`. */
function listOwn(batch: Batch, list: usize, summands: usize): i32 {
  let commitment = summands, point = summands + AFFINE1 * batch.outputs;
  for (let i = 0; i < batch.count; ++i) {
    const proof = proofAt(batch, i), n = 3 + 2 * roundsOf(proof.outputs);
    if (!summandsOf(point, proof.points, n)) return 0;
    listSummands(list, commitment, proof.outputs);
    listSummands(list + 4 * proof.outputs, point, n);
    commitment += AFFINE1 * proof.outputs;
    point += AFFINE1 * n;
    list += 4 * (proof.outputs + n);
  }
  return 1;
}

function addProof(sums: Sums, proof: Proof, c: usize, inverses: usize, weight: usize): void {
  preparePowers(proof, c, weight);
  writeOwn(sums, proof, c, inverses);
  addPedersen(sums, proof, c);
  addGenerators(sums, proof, c, inverses);
}

/** Own points beside which tables of the generators save more than another n buckets cost (measured). */
const MOST_OWN_BESIDE_TABLES: i32 = 512;

/** P (lane 0) = the weighted sum of `own` listed points, whose factors those of the generators follow. */
function sumAll(sums: Sums, list: usize, own: i32, generators: i32): void {
  const factors = sums.generators - 32 * own;
  if (generators > MOST_TABLED || own > MOST_OWN_BESIDE_TABLES) {
    listSummands(list + 4 * own, generatorSummands(1, generators), generators);
    sumTerms(P, factors, list, own + generators);
    return;
  }
  sumGenerators(P, sums.generators, generators);
  toCached(Q, P);
  sumTerms(P, factors, list, own);
  addCached(P, P, Q, false);
}

/**
 * 1 where all `count` proofs hold. `proofs`: Proof records; `weights`: 32 bytes a proof, nonzero. The caller has
 * checked lengths. Memory stays reserved until the next call.
 */
export function verifyBulletproofsPlus(proofs: usize, count: i32, weights: usize): i32 {
  if (!isReady) prepare();
  const batch = changetype<Batch>(BATCH), sums = changetype<Sums>(SUMS);
  batch.proofs = proofs;
  batch.count = count;
  if (!measure(batch)) return 0;
  const outputs = batch.outputs, points = batch.points, generators = 2 << batch.most, n = outputs + points + 2 + generators;
  const summands = alloc(AFFINE1 * (outputs + points + 2)), encoded = alloc(32 * (outputs + 1));
  const challenges = alloc(CHALLENGES * count), inverses = alloc(32 * 11 * count), factors = alloc(32 * n), list = alloc(4 * (n + 1));
  if (!divideCommitments(batch, encoded, summands)) return 0;
  if (!readAllChallenges(batch, challenges, inverses, encoded)) return 0;
  if (!listOwn(batch, list, summands)) return 0;
  sums.own = <u32>factors;
  sums.pedersen = <u32>(factors + 32 * (outputs + points));
  sums.generators = sums.pedersen + 64;
  sums.uniform = <u32>UNIFORM;
  sums.columns = <u32>alloc(COLUMNS * generators);
  memory.fill(sums.pedersen, 0, 64);
  memory.fill(sums.columns, 0, COLUMNS * generators);
  memory.fill(UNIFORM, 0, 64 * 5);
  for (let i = 0, at = inverses; i < count; ++i) {
    if (i > 0 && i % PROOFS_PER_FOLD == 0) for (let k = 0; k < generators; ++k) foldInPlace(sums.columns + COLUMNS * k);
    addProof(sums, proofAt(batch, i), challenges + CHALLENGES * i, at, weights + 32 * i);
    at += 32 * (roundsOf(proofAt(batch, i).outputs) + 1);
  }
  finishGenerators(sums, batch.most);
  listSummands(list + 4 * (outputs + points), PEDERSEN, 2);
  sumAll(sums, list, outputs + points + 2, generators);
  mulBy8(P, P, false);
  return identityLanes(P) & 1;
}
