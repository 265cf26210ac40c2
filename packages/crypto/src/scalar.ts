import { randomBytes } from "node:crypto";
import { checkLength, elementsOf, hexBytes, wipe } from "./bytes.ts";
import { backend } from "./engine.ts";

/** Gives `size` unpredictable bytes, a new array at every call (its reader wipes it). */
export type RandomSource = (size: number) => Uint8Array;

/** 1/8 mod ℓ. */
export const INVERSE_OF_EIGHT = scInvert(scFromUint64(8n));

/** 15·ℓ, little-endian: the largest multiple of ℓ that 32 bytes hold. */
const FIFTEEN_ORDERS = hexBytes("e36a67728bce13298f30828c0ba41039010000000000000000000000000000f0");

/** 32 bytes of any value mod ℓ. */
export function scReduce32(bytes: Uint8Array): Uint8Array {
  return backend.scalar.reduce32(bytes);
}

/** 64 bytes of any value mod ℓ. */
export function scReduce64(bytes: Uint8Array): Uint8Array {
  return backend.scalar.reduce64(bytes);
}

/** a + b mod ℓ; scalars are 32 bytes, little-endian. */
export function scAdd(a: Uint8Array, b: Uint8Array): Uint8Array {
  return backend.scalar.add(a, b);
}

/** a − b mod ℓ. */
export function scSub(a: Uint8Array, b: Uint8Array): Uint8Array {
  return backend.scalar.sub(a, b);
}

/** a·b mod ℓ. */
export function scMul(a: Uint8Array, b: Uint8Array): Uint8Array {
  return backend.scalar.mul(a, b);
}

/** a·b + c mod ℓ. */
export function scMulAdd(a: Uint8Array, b: Uint8Array, c: Uint8Array): Uint8Array {
  return backend.scalar.mulAdd(a, b, c);
}

/** c − a·b mod ℓ. */
export function scMulSub(a: Uint8Array, b: Uint8Array, c: Uint8Array): Uint8Array {
  return backend.scalar.mulSub(a, b, c);
}

/** 1/a mod ℓ; 0 for 0. */
export function scInvert(a: Uint8Array): Uint8Array {
  return backend.scalar.invert(a);
}

/** Whether the 32 bytes are below ℓ. Source: crypto-ops.c `sc_check`. */
export function scIsCanonical(bytes: Uint8Array): boolean {
  return backend.scalar.isCanonical(bytes);
}

/** Whether all 32 bytes are zero. */
export function scIsZero(bytes: Uint8Array): boolean {
  checkLength("scalar", bytes, 32);
  let union = 0;
  for (const byte of bytes) union |= byte;
  return union === 0;
}

/** An unsigned 64-bit integer as a scalar, 32 bytes; throws `RangeError` outside 0 … 2⁶⁴ − 1. */
export function scFromUint64(value: bigint): Uint8Array {
  if (value < 0n || value >= 2n ** 64n) throw new RangeError("not an unsigned 64-bit integer");
  const bytes = new Uint8Array(32);
  new DataView(bytes.buffer).setBigUint64(0, value, true);
  return bytes;
}

/** A uniform scalar other than zero, 32 bytes. Source: crypto.cpp `random32_unbiased`. */
export function randomScalar(random?: RandomSource): Uint8Array {
  return randomScalars(1, random)[0]!;
}

/** `count` random scalars, from one call of the source. */
export function randomScalars(count: number, random: RandomSource = randomBytes): Uint8Array[] {
  const bytes = random(32 * count);
  try {
    return elementsOf(bytes).map((candidate) => scalarFrom(candidate) ?? randomScalar(random));
  } finally {
    wipe(bytes);
  }
}

/** A uniform scalar of 32 uniform bytes; undefined of the few that would make it another. */
function scalarFrom(bytes: Uint8Array): Uint8Array | undefined {
  if (!isBelow(bytes, FIFTEEN_ORDERS)) return undefined;
  const scalar = scReduce32(bytes);
  return scIsZero(scalar) ? undefined : scalar;
}

function isBelow(bytes: Uint8Array, limit: Uint8Array): boolean {
  for (let i = 31; i >= 0; i--) {
    if (bytes[i] !== limit[i]) return bytes[i]! < limit[i]!;
  }
  return false;
}
