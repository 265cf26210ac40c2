import { checkLength, concatBytes, elementAt, equalBytes, repeatElement, wipe } from "./bytes.ts";
import { eachVerdict } from "./each-verdict.ts";
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

/** A key's signature, c ‖ r. */
export type KeySignature = { readonly publicKey: Uint8Array; readonly signature: Uint8Array };

function isFormed({ publicKey, signature }: KeySignature): boolean {
  if (publicKey.length !== 32 || signature.length !== 64) return false;
  const c = signature.subarray(0, 32);
  return scIsCanonical(c) && scIsCanonical(signature.subarray(32)) && !scIsZero(c);
}

/** Verdicts of well-formed signatures; undefined if a public key is no point. */
function verdictsOf(hash: Uint8Array, signatures: readonly KeySignature[]): boolean[] | undefined {
  const commitments = backend.doubleScalarMultVartime({
    a: concatBytes(...signatures.map(({ signature }) => signature.subarray(0, 32))),
    A: concatBytes(...signatures.map(({ publicKey }) => publicKey)),
    b: concatBytes(...signatures.map(({ signature }) => signature.subarray(32))),
    B: repeatElement(G, signatures.length),
  });
  if (commitments === undefined) return undefined;
  return signatures.map(({ publicKey, signature }, i) => {
    const commitment = elementAt(commitments, i);
    if (equalBytes(commitment, IDENTITY)) return false;
    return equalBytes(hashToScalar(hash, publicKey, commitment), signature.subarray(0, 32));
  });
}

/** Whether each signs the hash (32 bytes) under its key; false on anything malformed. */
export function checkSignatures(hash: Uint8Array, signatures: readonly KeySignature[]): boolean[] {
  if (hash.length !== 32) return signatures.map(() => false);
  return eachVerdict(signatures, isFormed, (formed) => verdictsOf(hash, formed));
}

/** Whether the 64 bytes sign the hash under the key; false on anything malformed. Source: crypto.cpp `check_signature`. */
export function checkSignature(hash: Uint8Array, publicKey: Uint8Array, signature: Uint8Array): boolean {
  return checkSignatures(hash, [{ publicKey, signature }])[0]!;
}
