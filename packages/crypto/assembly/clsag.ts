/**
 * CLSAG ring walk. For member i with challenge c and response s:
 *   L = s·G + c·μP·P_i + c·μC·(C_i − pseudoOut),   R = s·Hp(P_i) + c·μP·I + c·μC·(8·D),
 * and the next challenge is Hs("CLSAG_round" ‖ P ‖ C ‖ pseudoOut ‖ message ‖ L ‖ R). L and R have the same three
 * factors, so they are the two lanes of one computation. Source: https://eprint.iacr.org/2019/654; rctSigs.cpp.
 */
import {
  BASE, IDENTITY_CACHED, PT, addCached, dbl, decompress, encode, gatherCrosses, gatherPairs, identityLanes, mulBy8,
  oddMultiples, setIdentity, subCached, toCached,
} from "./point";
import { hashToPoint } from "./elligator";
import { absorb, hashToScalar, squeeze } from "./keccak";
import { scIsCanonical, scIsZero, scMul, scReduce32 } from "./scalar";
import { nonAdjacentForm } from "./digits";
import { alloc, arenaMark, arenaRewind } from "./arena";

/** The ring: addresses of its parts, as placed by the JavaScript side: 32-bit words in this order, then the ring size. */
@unmanaged class Ring {
  message: u32;
  keys: u32;
  commitments: u32;
  pseudoOut: u32;
  keyImage: u32;
  D: u32;
  size: i32;
}

const ROUND: usize = memory.data<u64>([0x6f725f4741534c43, 0x646e75, 0, 0]); // "CLSAG_round"
const AGGREGATE_0: usize = memory.data<u64>([0x67615f4741534c43, 0x305f67, 0, 0]); // "CLSAG_agg_0"
const AGGREGATE_1: usize = memory.data<u64>([0x67615f4741534c43, 0x315f67, 0, 0]); // "CLSAG_agg_1"

/** Entries of a table of odd multiples for width-5 digits. */
const ODD: i32 = 8;
const BASES: usize = memory.data(8 * 4 * 160, 16), IMAGES: usize = memory.data(8 * 4 * 160, 16);
const MEMBER: usize = memory.data(8 * 4 * 160, 16), HASHED: usize = memory.data(8 * 4 * 160, 16);
/** Tables of (G | Hp), (P | I), (C' | 8D). */
const TERM_0: usize = memory.data(8 * 4 * 160, 16), TERM_1: usize = memory.data(8 * 4 * 160, 16), TERM_2: usize = memory.data(8 * 4 * 160, 16);
const P: usize = memory.data(4 * 160, 16), Q: usize = memory.data(4 * 160, 16), OFFSET: usize = memory.data(4 * 160, 16);
const DIGITS: usize = memory.data(3 * 256, 16);
const MU_P: usize = memory.data(32, 16), MU_C: usize = memory.data(32, 16), FACTOR: usize = memory.data(32, 16);
const PREFIX_STATE: usize = memory.data(200, 16), STATE: usize = memory.data(200, 16);
let basesReady: bool = false;
/** Whether 8·D of the ring last prepared is the identity. */
let isImageIdentity: i32 = 0;
/** The bytes of the round hash that do not fill a block, followed by room for L and R. */
const TAIL: usize = memory.data(136 + 64, 16);
let tailLength: i32 = 0;

/** IMAGES = odd multiples of (8·D | I). 0 if one of them is no point. */
function prepareImages(ring: Ring): i32 {
  if (decompress(P, ring.D, ring.keyImage) != 3) return 0;
  mulBy8(Q, P, true);
  isImageIdentity = identityLanes(Q) & 1;
  gatherPairs(P, Q, P);
  oddMultiples(IMAGES, P, ODD);
  if (!basesReady) {
    oddMultiples(BASES, BASE, ODD);
    basesReady = true;
  }
  return 1;
}

/** μP, μC = Hs(domain ‖ P ‖ C ‖ I ‖ D ‖ pseudoOut), and the state of the round hash after its constant part. */
function prepareHashes(ring: Ring): void {
  const mark = arenaMark(), keysLength: usize = 32 * ring.size, length = 2 * keysLength + 4 * 32, text = alloc(length);
  memory.copy(text + 32, ring.keys, keysLength);
  memory.copy(text + 32 + keysLength, ring.commitments, keysLength);
  const rest = text + 32 + 2 * keysLength;
  memory.copy(rest, ring.keyImage, 32);
  memory.copy(rest + 32, ring.D, 32);
  memory.copy(rest + 64, ring.pseudoOut, 32);
  memory.copy(text, AGGREGATE_0, 32);
  hashToScalar(MU_P, text, <i32>length);
  memory.copy(text, AGGREGATE_1, 32);
  hashToScalar(MU_C, text, <i32>length);
  memory.copy(text, ROUND, 32);
  memory.copy(rest, ring.pseudoOut, 32);
  memory.copy(rest + 32, ring.message, 32);
  const constant = <i32>(length - 32);
  memory.fill(PREFIX_STATE, 0, 200);
  const blockBytes = absorb(PREFIX_STATE, text, constant);
  tailLength = constant - blockBytes;
  memory.copy(TAIL, text + blockBytes, tailLength);
  arenaRewind(mark);
}

/** members[i] = (P_i | C_i − pseudoOut), PT bytes apart. 0 if one of them is no point. */
function prepareMembers(members: usize, ring: Ring): i32 {
  if (decompress(P, ring.pseudoOut, ring.pseudoOut) != 3) return 0;
  toCached(Q, P);
  gatherPairs(OFFSET, IDENTITY_CACHED, Q);
  for (let i = 0; i < ring.size; ++i) {
    if (decompress(P, ring.keys + 32 * i, ring.commitments + 32 * i) != 3) return 0;
    subCached(members + PT * i, P, OFFSET, true);
  }
  return 1;
}

/** HASHED = odd multiples of (Hp(P_i) | Hp(P_j)). */
function prepareHashed(ring: Ring, i: i32, j: i32): void {
  hashToPoint(P, ring.keys + 32 * i, ring.keys + 32 * j, true);
  oddMultiples(HASHED, P, ODD);
}

/** The three tables of a member, whose hash point is in `lane` of HASHED. */
function prepareTerms(lane: i32): void {
  for (let i: usize = 0; i < 8 * PT; i += PT) {
    if (lane) gatherPairs(TERM_0 + i, BASES + i, HASHED + i);
    else gatherCrosses(TERM_0 + i, BASES + i, HASHED + i);
    gatherPairs(TERM_1 + i, MEMBER + i, IMAGES + i);
    gatherCrosses(TERM_2 + i, MEMBER + i, IMAGES + i);
  }
}

@inline function addTerm(table: usize, digit: i32, withT: bool): void {
  if (digit > 0) addCached(Q, Q, table + PT * (digit >> 1), withT);
  else subCached(Q, Q, table + PT * (-digit >> 1), withT);
}

/** Q = (L | R) from the tables and the digits of the three factors. */
function sumTerms(top: i32): void {
  setIdentity(Q);
  for (let i = top; i >= 0; --i) {
    const d = <i32>load<i8>(DIGITS + i), e = <i32>load<i8>(DIGITS + i, 256), f = <i32>load<i8>(DIGITS + i, 512);
    if (i < top) dbl(Q, Q, (d | e | f) != 0);
    if (d) addTerm(TERM_0, d, (e | f) != 0);
    if (e) addTerm(TERM_1, e, f != 0);
    if (f) addTerm(TERM_2, f, false);
  }
}

/** challenge = Hs(constant part ‖ L ‖ R). */
function roundHash(challenge: usize): void {
  memory.copy(STATE, PREFIX_STATE, 200);
  encode(TAIL + tailLength, TAIL + tailLength + 32, Q);
  const length = tailLength + 64, blockBytes = absorb(STATE, TAIL, length);
  squeeze(challenge, STATE, TAIL + blockBytes, length - blockBytes);
  scReduce32(challenge, challenge);
}

/**
 * The challenges of members first + 1 … first + count (cyclic) from the challenge of `first`, 32·count bytes at `out`.
 * Returns 0 where a point of the ring is invalid.
 */
export function clsagChallenges(out: usize, ring: Ring, s: usize, first: i32, challenge: usize, count: i32): i32 {
  const mark = arenaMark(), members = alloc(PT * ring.size);
  if (!prepareImages(ring) || !prepareMembers(members, ring)) return 0;
  prepareHashes(ring);
  let c = challenge, i = first;
  for (let k = 0; k < count; ++k) {
    const next = i + 1 < ring.size ? i + 1 : 0;
    oddMultiples(MEMBER, members + PT * i, ODD);
    if ((k & 1) == 0) prepareHashed(ring, i, next);
    prepareTerms(k & 1);
    let top = nonAdjacentForm(DIGITS, s + 32 * i, 5);
    scMul(FACTOR, MU_P, c);
    top = max(top, nonAdjacentForm(DIGITS + 256, FACTOR, 5));
    scMul(FACTOR, MU_C, c);
    top = max(top, nonAdjacentForm(DIGITS + 512, FACTOR, 5));
    sumTerms(top);
    c = out + 32 * k;
    roundHash(c);
    i = next;
  }
  arenaRewind(mark);
  return 1;
}

const IDENTITY_BYTES: usize = memory.data<u64>([1, 0, 0, 0]);

/** 1 where the proof holds. Source: rctSigs.cpp `verRctCLSAGSimple`. */
export function verifyClsag(ring: Ring, s: usize, c1: usize): i32 {
  for (let i = 0; i < ring.size; ++i) if (!scIsCanonical(s + 32 * i)) return 0;
  if (!scIsCanonical(c1) || memory.compare(ring.keyImage, IDENTITY_BYTES, 32) == 0) return 0;
  const challenges = alloc(32 * ring.size);
  if (!clsagChallenges(challenges, ring, s, 0, c1, ring.size) || isImageIdentity) return 0;
  for (let i = 0; i < ring.size; ++i) if (scIsZero(challenges + 32 * i)) return 0;
  return i32(memory.compare(challenges + 32 * (ring.size - 1), c1, 32) == 0);
}
