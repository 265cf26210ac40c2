import { checkLength, concatBytes, hexBytes, useJoined } from "./bytes.ts";
import { backend } from "./engine.ts";

/** Bytes that should encode a point of edwards25519 do not. */
export class InvalidPoint extends Error {
  override readonly name = "InvalidPoint";

  /** `role`: which point it was, e.g. "transaction public key". */
  constructor(role: string) {
    super(`${role} is no curve point`);
  }
}

/** The base point, 32 bytes. Source: RFC 8032 §5.1. */
export const G = hexBytes("5866666666666666666666666666666666666666666666666666666666666666");

/** The generator of amounts, 8·(the point keccak256(G) encodes), 32 bytes. Source: rctTypes.h `H`. */
export const H = hexBytes("8b655970153799af2aeadc9ff1add0ea6c7251d54154cfa92c173a0dd39c1f94");

/** The neutral element, 32 bytes. */
export const IDENTITY = hexBytes(`01${"00".repeat(31)}`);

/** The value, or `InvalidPoint` for the undefined of the backend. */
export function requirePoint(result: Uint8Array | undefined, role: string): Uint8Array {
  if (result === undefined) throw new InvalidPoint(role);
  return result;
}

/** Keccak-256 of the parts end to end, mod ℓ, 32 bytes. Source: crypto.cpp `hash_to_scalar`. */
export function hashToScalar(...parts: readonly Uint8Array[]): Uint8Array {
  return useJoined(parts, backend.hashToScalar);
}

/**
 * Hashes 32 bytes to a point of the prime-order subgroup whose logarithm is unknown. Source: crypto.cpp `hash_to_ec`.
 */
export function hashToPoint(data: Uint8Array): Uint8Array {
  return backend.hashToPoint(data);
}

/** Whether 32 bytes are the canonical encoding of a curve point, of any order. Source: crypto.cpp `check_key`. */
export function isPoint(bytes: Uint8Array): boolean {
  return backend.isPoint(bytes);
}

/** Whether the 32 bytes encode a point of the subgroup of order ℓ. Source: rctOps.cpp `isInMainSubgroup`. */
export function isInMainSubgroup(point: Uint8Array): boolean {
  checkLength("point", point, 32);
  return backend.areInMainSubgroup(point)[0] === 1;
}

/** The same for each of many points, in half the time. */
export function areInMainSubgroup(points: readonly Uint8Array[]): boolean[] {
  for (const point of points) checkLength("point", point, 32);
  return Array.from(backend.areInMainSubgroup(concatBytes(...points)), (verdict) => verdict === 1);
}

/** P + Q; throws `InvalidPoint`. */
export function pointAdd(p: Uint8Array, q: Uint8Array): Uint8Array {
  return requirePoint(backend.pointAdd(p, q), "summand");
}

/** P − Q; throws `InvalidPoint`. */
export function pointSub(p: Uint8Array, q: Uint8Array): Uint8Array {
  return requirePoint(backend.pointSub(p, q), "summand");
}

/** Σ Pᵢ, the identity for none; throws `InvalidPoint`. */
export function pointSum(points: readonly Uint8Array[]): Uint8Array {
  return requirePoint(backend.pointSum(concatBytes(...points)), "summand");
}

/** 8·P; throws `InvalidPoint`. */
export function mulBy8(point: Uint8Array): Uint8Array {
  return requirePoint(backend.mulBy8(point), "factor");
}

/** s·P, in a time that does not depend on s; throws `InvalidPoint`, and `RangeError` from s = 2²⁵⁵. */
export function scalarMult(scalar: Uint8Array, point: Uint8Array): Uint8Array {
  return requirePoint(backend.scalarMult(scalar, point), "factor");
}

/** s·G, in a time that does not depend on s; throws `RangeError` from s = 2²⁵⁵. */
export function scalarMultBase(scalar: Uint8Array): Uint8Array {
  return backend.scalarMultBase(scalar);
}

/** The public key s·G of a secret key, 32 bytes; throws `RangeError` unless s < ℓ. Source: `secret_key_to_public_key`. */
export function publicKeyOf(secretKey: Uint8Array): Uint8Array {
  if (!backend.scalar.isCanonical(secretKey)) throw new RangeError("secret key is not below the group order");
  return backend.scalarMultBase(secretKey);
}
