import { powerModulo, readInteger, writeInteger } from "./integers.ts";

/** The prime order ℓ of the base point. Source: RFC 7748 §4.1. */
export const GROUP_ORDER = 2n ** 252n + 27742317777372353535851937790883648493n;

/** Bytes of any length reduced mod ℓ, 32 bytes. */
export function scReduce(bytes: Uint8Array): Uint8Array {
  return writeInteger(readInteger(bytes) % GROUP_ORDER);
}

/** Whether the 32 bytes are below ℓ. */
export function scIsCanonical(bytes: Uint8Array): boolean {
  return readInteger(bytes) < GROUP_ORDER;
}

/** a + b mod ℓ. */
export function scAdd(a: Uint8Array, b: Uint8Array): Uint8Array {
  return writeInteger((readInteger(a) + readInteger(b)) % GROUP_ORDER);
}

/** a − b mod ℓ. */
export function scSub(a: Uint8Array, b: Uint8Array): Uint8Array {
  const difference = (readInteger(a) - readInteger(b)) % GROUP_ORDER;
  return writeInteger(difference < 0n ? difference + GROUP_ORDER : difference);
}

/** a·b mod ℓ. */
export function scMul(a: Uint8Array, b: Uint8Array): Uint8Array {
  return writeInteger((readInteger(a) * readInteger(b)) % GROUP_ORDER);
}

/** a·b + c mod ℓ. */
export function scMulAdd(a: Uint8Array, b: Uint8Array, c: Uint8Array): Uint8Array {
  return writeInteger((readInteger(a) * readInteger(b) + readInteger(c)) % GROUP_ORDER);
}

/** c − a·b mod ℓ. */
export function scMulSub(a: Uint8Array, b: Uint8Array, c: Uint8Array): Uint8Array {
  return scSub(c, scMul(a, b));
}

/** 1/a mod ℓ; 0 for 0. */
export function scInvert(a: Uint8Array): Uint8Array {
  return writeInteger(powerModulo(readInteger(a) % GROUP_ORDER, GROUP_ORDER - 2n, GROUP_ORDER));
}
