import { concatBytes, elementAt, elementsOf, equalBytes, repeatElement } from "../bytes.ts";
import { backend } from "../engine.ts";
import { G, H, hashToScalar, pointAdd } from "../point.ts";
import { slidingWindowScalar } from "./sliding-window.ts";

const BITS = 64;

/** A range proof of RCT types 1 and 2: for each bit a ring of two, 64 × 32 bytes each but `ee` of 32. */
export type BorromeanProof = { s0: Uint8Array; s1: Uint8Array; ee: Uint8Array; Ci: Uint8Array };

let powersOfTwo: Uint8Array | undefined;

/** 2^i·H, i = 0 … 63. Source: rctTypes.h `H2`. */
function doublings(): Uint8Array {
  if (powersOfTwo === undefined) {
    const points = [H];
    while (points.length < BITS) points.push(pointAdd(points.at(-1)!, points.at(-1)!));
    powersOfTwo = concatBytes(...points);
  }
  return powersOfTwo;
}

/**
 * Whether the commitment's amount is below 2⁶⁴; false on anything malformed.
 * Source: Maxwell and Poelstra, "Borromean ring signatures" (2015); rctSigs.cpp `verRange`, `verifyBorromean`.
 */
export function verifyBorromean(commitment: Uint8Array, { s0, s1, ee, Ci }: BorromeanProof): boolean {
  if (![s0, s1, Ci].every(({ length }) => length === 32 * BITS) || ee.length !== 32) return false;
  const sum = backend.pointSum(Ci);
  if (sum === undefined || !equalBytes(sum, commitment) || !backend.scalar.isCanonical(ee)) return false;
  const withoutBit = elementsOf(Ci).map((point, i) => backend.pointSub(point, elementAt(doublings(), i))!);
  const commitments = sums(ee, Ci, s0);
  const challenges = concatBytes(...elementsOf(commitments).map((point) => hashToScalar(point)));
  return equalBytes(hashToScalar(sums(challenges, concatBytes(...withoutBit), s1)), ee);
}

/**
 * cᵢ·Pᵢ + sᵢ·G for every bit; `c` is one scalar or one per bit. The sᵢ need not be below ℓ, because they are not
 * checked before.
 */
function sums(c: Uint8Array, points: Uint8Array, s: Uint8Array): Uint8Array {
  const a = c.length === 32 ? repeatElement(c, BITS) : c;
  const b = concatBytes(...elementsOf(s).map(slidingWindowScalar));
  return backend.doubleScalarMultVartime({ a, A: points, b, B: repeatElement(G, BITS) })!;
}
