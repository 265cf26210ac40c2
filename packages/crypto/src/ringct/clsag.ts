/**
 * CLSAG: the proof that one ring member is spent, that its amount is pseudoOut's, and what its key image is.
 * Source: Goodell, Noether, RandomRun, https://eprint.iacr.org/2019/654; rctSigs.cpp `CLSAG_Gen`.
 */
import type { ClsagRing } from "../backend.ts";
import { asciiBytes, concatBytes, elementAt, elementsOf, repeatElement, wipe } from "../bytes.ts";
import { backend } from "../engine.ts";
import { isKeyPair } from "../keys.ts";
import { hashToScalar, pointSub, requirePoint, scalarMultBase } from "../point.ts";
import {
  INVERSE_OF_EIGHT,
  type RandomSource,
  randomScalar,
  randomScalars,
  scMul,
  scMulAdd,
  scMulSub,
} from "../scalar.ts";

/** A proof as on the wire: one response per ring member, the first challenge, the commitment's image divided by 8. */
export type Clsag = { s: Uint8Array[]; c1: Uint8Array; D: Uint8Array };

/** An output as a ring member: one-time key and amount commitment, 32 bytes each. */
export type RingMember = { key: Uint8Array; commitment: Uint8Array };

export type ClsagSigning = {
  /** 32 bytes: `ringCtMessage` of the transaction. */
  message: Uint8Array;
  ring: readonly RingMember[];
  pseudoOut: Uint8Array;
  /** The secret of the real member's one-time key. */
  secretKey: Uint8Array;
  /** The real member's commitment mask less pseudoOut's. */
  secretMask: Uint8Array;
  realIndex: number;
  random?: RandomSource | undefined;
};

export type ClsagVerification = {
  message: Uint8Array;
  ring: readonly RingMember[];
  pseudoOut: Uint8Array;
  keyImage: Uint8Array;
  proof: Clsag;
};

/** A domain separator: text padded with zeros to 32 bytes. */
export function clsagDomain(text: string): Uint8Array {
  const padded = new Uint8Array(32);
  padded.set(asciiBytes(text));
  return padded;
}

/** Throws unless the secrets open the real member: a signature made otherwise would be refused by everyone. */
function checkOpening({ ring, pseudoOut, secretKey, secretMask, realIndex }: ClsagSigning): RingMember {
  const member = ring[realIndex];
  if (member === undefined) throw new RangeError("the spent output is not in the ring");
  if (!isKeyPair(member.key, secretKey)) throw new RangeError("the secret key is not the spent output's");
  if (!isKeyPair(pointSub(member.commitment, pseudoOut), secretMask)) {
    throw new RangeError("the mask does not open the spent output's commitment");
  }
  return member;
}

/** Signs, in a time that does not depend on the secrets; throws `RangeError` on secrets that do not fit the ring. */
export function signClsag(signing: ClsagSigning): { proof: Clsag; keyImage: Uint8Array } {
  const { message, pseudoOut, secretKey, secretMask, realIndex, random } = signing;
  const size = signing.ring.length;
  const { key } = checkOpening(signing);
  const nonce = randomScalar(random);
  const dividedMask = scMul(secretMask, INVERSE_OF_EIGHT);
  const factors = concatBytes(secretKey, dividedMask, nonce);
  let aggregate: Uint8Array | undefined;
  try {
    const products = backend.scalarMultHashed(factors, repeatElement(key, 3));
    const ring: ClsagRing = {
      message,
      keys: concatBytes(...signing.ring.map(({ key }) => key)),
      commitments: concatBytes(...signing.ring.map(({ commitment }) => commitment)),
      pseudoOut,
      keyImage: products.slice(0, 32),
      D: products.slice(32, 64),
    };
    const next = (realIndex + 1) % size;
    const s = new Uint8Array(32 * size);
    for (const [i, response] of randomScalars(size - 1, random).entries())
      s.set(response, 32 * ((next + i) % size));
    const opening = openingChallenge(ring, scalarMultBase(nonce), elementAt(products, 2));
    const walk = { s, first: next, challenge: opening, count: size - 1 };
    const later = requirePoint(backend.clsagChallengesVartime(ring, walk), "ring member");
    const challenges = concatBytes(opening, later); // of members next, next + 1, … realIndex
    aggregate = aggregateSecret(ring, secretKey, secretMask);
    s.set(scMulSub(elementAt(challenges, size - 1), aggregate, nonce), 32 * realIndex);
    const c1 = elementAt(challenges, (size - next) % size).slice();
    return { proof: { s: elementsOf(s), c1, D: ring.D }, keyImage: ring.keyImage };
  } finally {
    wipe(nonce, dividedMask, factors, aggregate);
  }
}

/** The challenge after the real member: the round hash of the nonce's two commitments. */
function openingChallenge(ring: ClsagRing, L: Uint8Array, R: Uint8Array): Uint8Array {
  const { keys, commitments, pseudoOut, message } = ring;
  return hashToScalar(clsagDomain("CLSAG_round"), keys, commitments, pseudoOut, message, L, R);
}

/** μP·p + μC·z. */
function aggregateSecret(ring: ClsagRing, secretKey: Uint8Array, secretMask: Uint8Array): Uint8Array {
  const hashed = [ring.keys, ring.commitments, ring.keyImage, ring.D, ring.pseudoOut];
  const keyPart = scMul(hashToScalar(clsagDomain("CLSAG_agg_0"), ...hashed), secretKey);
  const sum = scMulAdd(hashToScalar(clsagDomain("CLSAG_agg_1"), ...hashed), secretMask, keyPart);
  wipe(keyPart);
  return sum;
}

/**
 * Whether the proof holds; false for malformed proofs. Does not check that the key image is in the prime-order subgroup
 * (`isInMainSubgroup`). Source: rctSigs.cpp `verRctCLSAGSimple`.
 */
export function verifyClsag({ message, ring, pseudoOut, keyImage, proof }: ClsagVerification): boolean {
  const elements = [message, pseudoOut, keyImage, proof.c1, proof.D, ...proof.s];
  const members = ring.flatMap(({ key, commitment }) => [key, commitment]);
  if (![...elements, ...members].every(({ length }) => length === 32)) return false;
  if (ring.length === 0 || proof.s.length !== ring.length) return false;
  const statement = clsagRingOf({ message, ring, pseudoOut, keyImage, proof });
  return verifyClsagRing({ ...statement, s: concatBytes(...proof.s), c1: proof.c1 });
}

/** A ring with the responses (32 bytes a member) and the first challenge of its proof. */
export type ProvenRing = ClsagRing & { s: Uint8Array; c1: Uint8Array };

/** As `verifyClsag`, for joined parts; throws `RangeError` if lengths do not match. */
export function verifyClsagRing(proven: ProvenRing): boolean {
  return backend.verifyClsag(proven, proven.s, proven.c1);
}

/** What a proof is about, side by side. */
export function clsagRingOf(stated: ClsagVerification): ClsagRing {
  const { message, ring, pseudoOut, keyImage, proof } = stated;
  return {
    message,
    keys: concatBytes(...ring.map(({ key }) => key)),
    commitments: concatBytes(...ring.map(({ commitment }) => commitment)),
    pseudoOut,
    keyImage,
    D: proof.D,
  };
}
