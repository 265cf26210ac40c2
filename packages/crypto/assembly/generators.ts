/**
 * The generators of the range proofs, 8·map(keccak(keccak(H ‖ family ‖ varint(k)))): index 2i is H_i, 2i + 1 is G_i.
 * Kept as affine summands of one lane, extended as far as a proof has asked for. Source: bulletproofs_plus.cc
 * `get_exponent`, config::HASH_KEY_BULLETPROOF_PLUS_EXPONENT.
 */
import { AFFINE1, PT, encodeBatch } from "./point";
import { hashToPoint } from "./elligator";
import { keccak256 } from "./keccak";
import { normalizeBatch, storeSummands } from "./affine";
import { putVarint } from "./scan";
import { alloc, arenaMark, arenaRewind } from "./arena";

/** Two per bit of sixteen 64-bit amounts, for each of the two families. */
const MOST: i32 = 2048;
const SUMMANDS: usize = memory.data(2 * 2048 * 120, 16);
let knownOriginal: i32 = 0, knownPlus: i32 = 0;

/** The second generator of Pedersen commitments, encoded. Source: rctTypes.h `H`. */
export const H_BYTES: usize = memory.data<u64>([0xaf9937157059658b, 0xead0adf19fdcea2a, 0xa9cf5441d551726c, 0x941f9cd30d3a172c]);
/** "bulletproof_plus"; its first 11 bytes name the other family. */
const NAME: usize = memory.data<u64>([0x727074656c6c7562, 0x73756c705f666f6f]);
const MESSAGE: usize = memory.data(64, 16);
const HASHES: usize = memory.data(64, 16);

/** `pairs` two-lane points H_i | G_i from i = `first` on, not normalized. `plus` chooses the family. */
function computeGenerators(points: usize, plus: i32, first: i32, pairs: i32): void {
  const nameLength = plus ? 16 : 11;
  memory.copy(MESSAGE, H_BYTES, 32);
  memory.copy(MESSAGE + 32, NAME, nameLength);
  for (let i = 0; i < pairs; ++i) {
    for (let lane = 0; lane < 2; ++lane) {
      const end = putVarint(MESSAGE + 32 + nameLength, 2 * (first + i) + lane);
      keccak256(HASHES + 32 * lane, MESSAGE, <i32>(end - MESSAGE));
    }
    hashToPoint(points + PT * i, HASHES, HASHES + 32, false);
  }
}

/** The summands of at least `count` (≤ 2048) generators, AFFINE1 bytes apart. */
export function generatorSummands(plus: i32, count: i32): usize {
  const summands = SUMMANDS + AFFINE1 * MOST * plus, ready = plus ? knownPlus : knownOriginal;
  if (count > ready) {
    const mark = arenaMark(), pairs = (count - ready + 1) >> 1, points = alloc(PT * pairs), start = summands + AFFINE1 * ready;
    computeGenerators(points, plus, ready >> 1, pairs);
    normalizeBatch(points, pairs);
    storeSummands(start, start + AFFINE1, 2 * AFFINE1, points, pairs);
    if (plus) knownPlus = ready + 2 * pairs;
    else knownOriginal = ready + 2 * pairs;
    arenaRewind(mark);
  }
  return summands;
}

/** The encodings of the first 2·`pairs` generators, 64 bytes a pair. */
export function generatorEncodings(out: usize, plus: i32, pairs: i32): void {
  const mark = arenaMark(), points = alloc(PT * pairs);
  computeGenerators(points, plus, 0, pairs);
  encodeBatch(out, points, pairs);
  arenaRewind(mark);
}
