/**
 * CLSAGs that several signers make, each with a share of the one-time secret and nonces of his own.
 * Source: multisig_clsag_context.cpp; MuSig2, https://eprint.iacr.org/2020/1261, for the factor that binds nonces.
 */
import type { ClsagRing } from "../backend.ts";
import { concatBytes, elementAt, wipe } from "../bytes.ts";
import { backend } from "../engine.ts";
import { keyImageOf } from "../keys.ts";
import { hashToScalar, IDENTITY, mulBy8, pointAdd, requirePoint, scalarMult } from "../point.ts";
import { INVERSE_OF_EIGHT, scAdd, scFromUint64, scMul, scMulAdd, scMulSub } from "../scalar.ts";
import { type ClsagVerification, clsagDomain, clsagRingOf } from "./clsag.ts";

/** What all signers of one input agree on; `proof.s` at the real member's place and `proof.c1` do not count. */
export interface ClsagFrame extends ClsagVerification {
  readonly realIndex: number;
}

/** One nonce k, or the sum of all signers', as points: k·G and k·Hp(one-time key), 32 bytes each. */
export interface NoncePoints {
  readonly L: Uint8Array;
  readonly R: Uint8Array;
}

/** What the signers answer to; scalars of 32 bytes, none of them secret. */
export interface ClsagChallenge {
  /** First challenge of the finished proof. */
  readonly c1: Uint8Array;
  readonly challenge: Uint8Array;
  /** Binds each signer's nonces to one another: the i-th counts by its i-th power. */
  readonly nonceFactor: Uint8Array;
  /** Weights of the one-time secret and of the commitment's. */
  readonly keyWeight: Uint8Array;
  readonly maskWeight: Uint8Array;
}

/** Nonces every signer brings to an input. Source: multisig_clsag_context.h `kAlphaComponents`. */
export const NONCES_PER_SIGNATURE = 2;

function powers(of: Uint8Array, count: number): Uint8Array[] {
  const result: Uint8Array[] = [];
  for (let power = scFromUint64(1n); result.length < count; power = scMul(power, of)) result.push(power);
  return result;
}

const number = (value: number) => {
  const bytes = new Uint8Array(32);
  new DataView(bytes.buffer).setUint32(0, value, true);
  return bytes;
};

function nonceFactor(frame: ClsagFrame, ring: ClsagRing, totals: readonly NoncePoints[]): Uint8Array {
  const { message, pseudoOut, keyImage, proof, realIndex } = frame;
  const decoys = proof.s.filter((_, i) => i !== realIndex);
  return hashToScalar(
    ...[clsagDomain("CLSAG_round_ms_merge_factor"), ring.keys, ring.commitments, pseudoOut, message],
    ...[...totals.map(({ L }) => L), ...totals.map(({ R }) => R), keyImage, mulBy8(proof.D), ...decoys],
    ...[realIndex, totals.length, frame.ring.length].map(number),
  );
}

/**
 * The challenge of an input, from the sums of all signers' nonces. Throws `InvalidPoint` for bytes that are no point
 * and `RangeError` if the real member is not in the ring.
 */
export function clsagChallenge(frame: ClsagFrame, totals: readonly NoncePoints[]): ClsagChallenge {
  const { message, pseudoOut, keyImage, proof, realIndex } = frame;
  const size = frame.ring.length;
  if (realIndex >= size || proof.s.length !== size)
    throw new RangeError("the spent output is not in the ring");
  const ring = clsagRingOf(frame);
  const factor = nonceFactor(frame, ring, totals);
  const scales = powers(factor, totals.length);
  const sum = (points: readonly Uint8Array[]) =>
    points.reduce((total, point, i) => pointAdd(total, scalarMult(scales[i]!, point)), IDENTITY);
  const [L, R] = [sum(totals.map((each) => each.L)), sum(totals.map((each) => each.R))];
  const next = (realIndex + 1) % size;
  const fixed = [clsagDomain("CLSAG_round"), ring.keys, ring.commitments, pseudoOut, message];
  const opening = hashToScalar(...fixed, L, R);
  const walk = { s: concatBytes(...proof.s), first: next, challenge: opening, count: size - 1 };
  const later = requirePoint(backend.clsagChallengesVartime(ring, walk), "ring member");
  const challenges = concatBytes(opening, later); // of members next, next + 1, … realIndex
  const weighed = [ring.keys, ring.commitments, keyImage, proof.D, pseudoOut];
  return {
    c1: elementAt(challenges, (size - next) % size).slice(),
    challenge: elementAt(challenges, size - 1).slice(),
    nonceFactor: factor,
    keyWeight: hashToScalar(clsagDomain("CLSAG_agg_0"), ...weighed),
    maskWeight: hashToScalar(clsagDomain("CLSAG_agg_1"), ...weighed),
  };
}

/** One signer's secrets for one input (32 bytes each). Nonces answer one challenge only: two give the key away. */
export interface ClsagShare {
  readonly nonces: readonly Uint8Array[];
  /** A share of the one-time secret. */
  readonly secretKey: Uint8Array;
  /** The commitment's mask less pseudoOut's, from the signer who has it. */
  readonly secretMask?: Uint8Array | undefined;
}

/** One signer's part of the response (32 bytes); the sum of all is `s` of the real member. */
export function clsagResponse(to: ClsagChallenge, { nonces, secretKey, secretMask }: ClsagShare): Uint8Array {
  const scales = powers(to.nonceFactor, nonces.length);
  const combined = new Uint8Array(32);
  for (const [i, nonce] of nonces.entries()) {
    const sum = scMulAdd(scales[i]!, nonce, combined);
    combined.set(sum);
    wipe(sum);
  }
  const keyPart = scMul(to.keyWeight, secretKey);
  const secret = secretMask === undefined ? keyPart : scMulAdd(to.maskWeight, secretMask, keyPart);
  try {
    return scMulSub(to.challenge, secret, combined);
  } finally {
    wipe(combined, keyPart, secret);
  }
}

/** D of a proof: the image, divided by 8, of the commitment's secret under the real member's key (32 bytes each). */
export function commitmentImage(key: Uint8Array, secretMask: Uint8Array): Uint8Array {
  const divided = scMul(secretMask, INVERSE_OF_EIGHT);
  try {
    return keyImageOf(key, divided);
  } finally {
    wipe(divided);
  }
}

/** The sum of nonces as points, signer by signer. */
export function addNonces(a: NoncePoints, b: NoncePoints): NoncePoints {
  return { L: pointAdd(a.L, b.L), R: pointAdd(a.R, b.R) };
}

/** Adds one signer's part to the parts before. */
export const addResponses = scAdd;
