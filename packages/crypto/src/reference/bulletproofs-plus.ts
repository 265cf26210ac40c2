/**
 * Bulletproofs+ verification: every amount committed to lies in 0 … 2⁶⁴ − 1.
 * Many proofs are checked at once: each one's equation, moved to one side, is weighted with a random scalar, and the
 * sum of all must be the identity. The roles of g and h of the paper are taken by H and G.
 * Source: Chung, Han, Ju, Kim, Seo, https://eprint.iacr.org/2020/735 §6.1; bulletproofs_plus.cc (transcript).
 */
import type { BulletproofPlusParts } from "../backend.ts";
import { asciiBytes, concatBytes, countElements, elementsOf } from "../bytes.ts";
import { once } from "../once.ts";
import { amountGenerator, rangeProofGenerators } from "./generators.ts";
import { hashToGroup, readPoints } from "./group.ts";
import { keccak256 } from "./keccak.ts";
import {
  basePoint,
  encodePoint,
  isIdentity,
  multiexpVartime,
  multiplyVartime,
  type Point,
  type Term,
} from "./point.ts";
import {
  GROUP_ORDER,
  invertModOrder,
  modOrder,
  powersOf,
  readScalar,
  readScalars,
  writeScalar,
} from "./scalar.ts";

const BITS = 64;
const BITS_LOG = 6;
const MAX_OUTPUTS = 16;
const inverseOf8 = once(() => invertModOrder(8n));

/** The transcript every proof starts from. Source: bulletproofs_plus.cc `init_exponents`. */
const initialTranscript = once(() =>
  encodePoint(hashToGroup(keccak256(asciiBytes("bulletproof_plus_transcript")))),
);

/** A proof decoded: wire points times 8, hence in the prime-order subgroup, in the order V, A, A1, B, L, R. */
type ProofWithChallenges = {
  V: Point[];
  A: Point;
  A1: Point;
  B: Point;
  L: Point[];
  R: Point[];
  r1: bigint;
  s1: bigint;
  d1: bigint;
  challenges: Challenges;
};

type Challenges = { y: bigint; z: bigint; rounds: bigint[]; e: bigint };

/** One weighted equation: factors of Hᵢ and Gᵢ by i, and everything else. */
type Equation = { H: bigint[]; G: bigint[]; others: Term[] };

function hashToInteger(...parts: readonly Uint8Array[]): bigint {
  return modOrder(readScalar(keccak256(concatBytes(...parts))));
}

/** The Fiat-Shamir challenges; undefined if one is zero. */
function challengesOf(proof: BulletproofPlusParts, dividedCommitments: Uint8Array): Challenges | undefined {
  const opening = hashToInteger(initialTranscript(), writeScalar(hashToInteger(dividedCommitments)));
  const y = hashToInteger(writeScalar(opening), proof.A);
  const z = hashToInteger(writeScalar(y));
  let transcript = z;
  const right = elementsOf(proof.R);
  const rounds = elementsOf(proof.L).map((left, i) => {
    transcript = hashToInteger(writeScalar(transcript), left, right[i]!);
    return transcript;
  });
  const e = hashToInteger(writeScalar(transcript), proof.A1, proof.B);
  return [y, z, ...rounds, e].includes(0n) ? undefined : { y, z, rounds, e };
}

/** ⌈log₂ m⌉: proofs are padded to a power of two of amounts. */
function paddingLog(outputs: number): number {
  return Math.ceil(Math.log2(outputs));
}

/** Decodes a proof; undefined where a part is malformed. */
function open(proof: BulletproofPlusParts): ProofWithChallenges | undefined {
  const outputs = countElements("commitments", proof.commitments);
  if (outputs < 1 || outputs > MAX_OUTPUTS) return undefined;
  const rounds = BITS_LOG + paddingLog(outputs);
  if (countElements("L", proof.L) !== rounds || countElements("R", proof.R) !== rounds) return undefined;
  const [r1, s1, d1] = [proof.r1, proof.s1, proof.d1].map(readScalar) as [bigint, bigint, bigint];
  if (![r1, s1, d1].every((value) => value < GROUP_ORDER)) return undefined;
  // The proof refers to commitments divided by 8, which the wire does not repeat.
  const divided = readPoints(proof.commitments)?.map((point) => multiplyVartime(inverseOf8(), point));
  const sent = readPoints(concatBytes(proof.A, proof.A1, proof.B, proof.L, proof.R));
  if (divided === undefined || sent === undefined) return undefined;
  const challenges = challengesOf(proof, concatBytes(...divided.map(encodePoint)));
  if (challenges === undefined) return undefined;
  const [A, A1, B, ...LR] = sent.map((point) => multiplyVartime(8n, point));
  return {
    V: divided.map((point) => multiplyVartime(8n, point)),
    A: A!,
    A1: A1!,
    B: B!,
    L: LR.slice(0, rounds),
    R: LR.slice(rounds),
    r1,
    s1,
    d1,
    challenges,
  };
}

/** Πⱼ xⱼ^(±1) for every index: + where its bit is set, the first challenge belonging to the highest bit. */
function challengeProducts(rounds: readonly bigint[]): bigint[] {
  return rounds.reduce<bigint[]>(
    (products, x) => {
      const inverse = invertModOrder(x);
      return products.flatMap((product) => [modOrder(product * inverse), modOrder(product * x)]);
    },
    [1n],
  );
}

function sum(values: readonly bigint[]): bigint {
  return modOrder(values.reduce((total, value) => total + value, 0n));
}

function weightedEquation(proof: ProofWithChallenges, w: bigint): Equation {
  const { y, z, rounds, e } = proof.challenges;
  const size = 2 ** rounds.length; // padded amounts × 64 bits
  const products = challengeProducts(rounds);
  const yPowers = powersOf(y, size + 2);
  const yInversePowers = powersOf(invertModOrder(y), size);
  const zSquares = powersOf(z * z, size / BITS + 1);
  /** dᵢ of bit b of amount j: z^(2(j+1))·2^b. */
  const d = Array.from({ length: size }, (_, i) =>
    modOrder(zSquares[Math.floor(i / BITS) + 1]! << BigInt(i % BITS)),
  );
  const eSquare = modOrder(e * e);
  const yTop = yPowers[size + 1]!;
  const hFactor =
    proof.r1 * y * proof.s1 + eSquare * (yTop * z * sum(d) + (z * z - z) * sum(yPowers.slice(1, size + 1)));
  return {
    G: products.map((product, i) =>
      modOrder(w * (e * proof.r1 * yInversePowers[i]! * product + eSquare * z)),
    ),
    H: d.map((bit, i) =>
      modOrder(w * (e * proof.s1 * products[size - 1 - i]! - eSquare * (z + yPowers[size - i]! * bit))),
    ),
    others: [
      { k: w * proof.d1, point: basePoint() },
      { k: w * hFactor, point: amountGenerator() },
      { k: -w * eSquare, point: proof.A },
      { k: -w * e, point: proof.A1 },
      { k: -w, point: proof.B },
      ...proof.V.map((point, j) => ({ k: -w * eSquare * zSquares[j + 1]! * yTop, point })),
      ...proof.L.map((point, j) => ({ k: -w * eSquare * rounds[j]! ** 2n, point })),
      ...proof.R.map((point, j) => ({ k: -w * eSquare * invertModOrder(rounds[j]!) ** 2n, point })),
    ],
  };
}

/** See `Backend.verifyBulletproofsPlus`. */
export function verifyBulletproofsPlus(
  proofs: readonly BulletproofPlusParts[],
  weights: Uint8Array,
): boolean {
  const weightValues = readScalars(weights);
  if (weightValues.length !== proofs.length) throw new RangeError("as many weights as proofs expected");
  const opened = proofs.map(open);
  if (!opened.every((proof) => proof !== undefined)) return false;
  const equations = opened.map((proof, i) => weightedEquation(proof, weightValues[i]!));
  const size = Math.max(0, ...equations.map(({ G }) => G.length));
  const generators = rangeProofGenerators("bulletproof_plus", 2 * size);
  const shared = generators.map((point, i) => {
    const at = Math.floor(i / 2);
    return { k: sum(equations.map(({ H, G }) => (i % 2 === 0 ? H : G)[at] ?? 0n)), point };
  });
  const own = equations.flatMap(({ others }) => others.map(({ k, point }) => ({ k: modOrder(k), point })));
  return isIdentity(multiexpVartime([...shared, ...own]));
}
