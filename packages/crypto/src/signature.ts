import { checkLength, concatBytes, equalBytes, wipe } from "./bytes.ts";
import { backend } from "./engine.ts";
import { G, hashToScalar, IDENTITY, scalarMultBase } from "./point.ts";
import { type RandomSource, randomScalar, scIsCanonical, scIsZero, scMulSub } from "./scalar.ts";

/**
 * A Schnorr signature of a 32-byte hash: c ‖ r, 64 bytes.
 * `publicKey` must be the secret's (it is hashed, not checked). Source: crypto.cpp `generate_signature`.
 */
export function signMessageHash(
  hash: Uint8Array,
  publicKey: Uint8Array,
  secretKey: Uint8Array,
  random?: RandomSource,
): Uint8Array {
  checkLength("hash", hash, 32);
  checkLength("public key", publicKey, 32);
  for (;;) {
    const k = randomScalar(random);
    const c = hashToScalar(hash, publicKey, scalarMultBase(k));
    const r = scMulSub(c, secretKey, k);
    wipe(k);
    if (!scIsZero(c) && !scIsZero(r)) return concatBytes(c, r);
  }
}

/** Whether the 64 bytes sign the hash under the key; false on anything malformed. Source: crypto.cpp `check_signature`. */
export function checkSignature(hash: Uint8Array, publicKey: Uint8Array, signature: Uint8Array): boolean {
  if (hash.length !== 32 || publicKey.length !== 32 || signature.length !== 64) return false;
  const c = signature.subarray(0, 32);
  const r = signature.subarray(32);
  if (!scIsCanonical(c) || !scIsCanonical(r) || scIsZero(c)) return false;
  const commitment = backend.doubleScalarMultVartime({ a: c, A: publicKey, b: r, B: G });
  if (commitment === undefined || equalBytes(commitment, IDENTITY)) return false;
  return equalBytes(hashToScalar(hash, publicKey, commitment), c);
}
