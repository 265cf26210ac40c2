/**
 * CLSAG: a ring signature over one-time keys Pᵢ and amount commitments Cᵢ together.
 * Source: Goodell, Noether, RandomRun, https://eprint.iacr.org/2019/654; rctSigs.cpp `verRctCLSAGSimple` (hash inputs).
 */
import type { ClsagResponses, ClsagRing } from "../backend.ts";
import { asciiBytes, checkLength, concatBytes, countElements, elementsOf } from "../bytes.ts";
import { hashToGroup, readPoint, readPoints } from "./group.ts";
import { keccak256 } from "./keccak.ts";
import {
  add,
  basePoint,
  encodePoint,
  isIdentity,
  multiexpVartime,
  multiplyVartime,
  negate,
  type Point,
} from "./point.ts";
import { GROUP_ORDER, modOrder, readScalar, readScalars, writeScalar } from "./scalar.ts";

const LARGEST_RING = 2048;

/** One member: Pᵢ, Cᵢ − pseudoOut, and the hash of Pᵢ to the group. */
type Member = { key: Point; commitment: Point; keyHash: Point };

type PreparedRing = {
  members: readonly Member[];
  /** I and 8·D. */
  images: { key: Point; commitment: Point };
  /** Factors that aggregate keys and commitments into one. */
  weights: { key: bigint; commitment: bigint };
  /** What every round hash starts with. */
  roundPrefix: Uint8Array;
};

function hashToInteger(...parts: readonly Uint8Array[]): bigint {
  return modOrder(readScalar(keccak256(concatBytes(...parts))));
}

/** A domain separator: text padded with zeros to 32 bytes. */
function domain(text: string): Uint8Array {
  const padded = new Uint8Array(32);
  padded.set(asciiBytes(text));
  return padded;
}

/** Decodes the ring and computes the hashes that the rounds share; undefined if a part is malformed. */
function prepare(ring: ClsagRing): PreparedRing | undefined {
  const { message, keys, commitments, pseudoOut, keyImage, D } = ring;
  checkLength("message", message, 32);
  const size = countElements("keys", keys);
  if (commitments.length !== keys.length) throw new RangeError("as many commitments as keys expected");
  if (size < 1 || size > LARGEST_RING) return undefined;
  const [keyPoints, commitmentPoints] = [readPoints(keys), readPoints(commitments)];
  const [offset, image, dividedImage] = [pseudoOut, keyImage, D].map(readPoint);
  if (!keyPoints || !commitmentPoints || !offset || !image || !dividedImage) return undefined;
  const aggregated = [keys, commitments, keyImage, D, pseudoOut];
  return {
    members: keyPoints.map((key, i) => ({
      key,
      commitment: add(commitmentPoints[i]!, negate(offset)),
      keyHash: hashToGroup(elementsOf(keys)[i]!),
    })),
    images: { key: image, commitment: multiplyVartime(8n, dividedImage) },
    weights: {
      key: hashToInteger(domain("CLSAG_agg_0"), ...aggregated),
      commitment: hashToInteger(domain("CLSAG_agg_1"), ...aggregated),
    },
    roundPrefix: concatBytes(domain("CLSAG_round"), keys, commitments, pseudoOut, message),
  };
}

/** The challenge after a member: Hs(prefix ‖ L ‖ R), L = sG + c(μP·P + μC·C), R = s·Hp(P) + c(μP·I + μC·D). */
function nextChallenge(
  ring: PreparedRing,
  { key, commitment, keyHash }: Member,
  s: bigint,
  c: bigint,
): bigint {
  const keyFactor = modOrder(c * ring.weights.key);
  const commitmentFactor = modOrder(c * ring.weights.commitment);
  const L = multiexpVartime([
    { k: s, point: basePoint() },
    { k: keyFactor, point: key },
    { k: commitmentFactor, point: commitment },
  ]);
  const R = multiexpVartime([
    { k: s, point: keyHash },
    { k: keyFactor, point: ring.images.key },
    { k: commitmentFactor, point: ring.images.commitment },
  ]);
  return hashToInteger(ring.roundPrefix, encodePoint(L), encodePoint(R));
}

/** See `Backend.verifyClsag`. */
export function verifyClsag(ring: ClsagRing, s: Uint8Array, c1: Uint8Array): boolean {
  const responses = readScalars(s);
  const first = readScalar(c1);
  if (![...responses, first].every((value) => value < GROUP_ORDER)) return false;
  const prepared = prepare(ring);
  if (prepared === undefined || responses.length !== prepared.members.length) return false;
  if (isIdentity(prepared.images.key) || isIdentity(prepared.images.commitment)) return false;
  let challenge = first;
  for (const [i, member] of prepared.members.entries()) {
    challenge = nextChallenge(prepared, member, responses[i]!, challenge);
    if (challenge === 0n) return false;
  }
  return challenge === first;
}

/** See `Backend.clsagChallengesVartime`. */
export function clsagChallenges(ring: ClsagRing, walk: ClsagResponses): Uint8Array | undefined {
  const responses = readScalars(walk.s);
  const prepared = prepare(ring);
  if (prepared === undefined) return undefined;
  const size = prepared.members.length;
  const challenges: bigint[] = [];
  let challenge = readScalar(walk.challenge);
  for (let i = 0; i < walk.count; i++) {
    const at = (walk.first + i) % size;
    challenge = nextChallenge(prepared, prepared.members[at]!, responses[at]!, challenge);
    challenges.push(challenge);
  }
  return concatBytes(...challenges.map(writeScalar));
}
