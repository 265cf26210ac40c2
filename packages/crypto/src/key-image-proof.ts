/**
 * Proofs that key images are those of one-time keys, many at once: c ‖ r, a ring signature of one member each.
 * Source: crypto.cpp `generate_ring_signature`, `check_ring_signature`.
 */
import { checkLength, concatBytes, elementAt, elementsOf, equalBytes, wipe } from "./bytes.ts";
import { eachVerdict } from "./each-verdict.ts";
import { backend } from "./engine.ts";
import { G, hashToScalar } from "./point.ts";
import { type RandomSource, randomScalars, scIsCanonical, scMulSub } from "./scalar.ts";

/** 32 bytes each. */
export type KeyImageStatement = {
  /** What the proof is bound to. */
  readonly prefixHash: Uint8Array;
  readonly publicKey: Uint8Array;
  readonly keyImage: Uint8Array;
};

export type KeyImageProof = KeyImageStatement & { readonly proof: Uint8Array };

/** Proofs of 64 bytes, by as many secret keys. Keys and key images are hashed, not checked. */
export function proveKeyImages(
  statements: readonly KeyImageStatement[],
  secretKeys: readonly Uint8Array[],
  random?: RandomSource,
): Uint8Array[] {
  for (const { prefixHash } of statements) checkLength("prefix hash", prefixHash, 32);
  const nonces = randomScalars(statements.length, random);
  const all = concatBytes(...nonces);
  try {
    const keys = concatBytes(...statements.map(({ publicKey }) => publicKey));
    const { L, R } = backend.commitTwice(all, keys);
    return statements.map(({ prefixHash }, i) => {
      const c = hashToScalar(prefixHash, elementAt(L, i), elementAt(R, i));
      return concatBytes(c, scMulSub(c, secretKeys[i]!, nonces[i]!));
    });
  } finally {
    wipe(all, ...nonces);
  }
}

function isFormed({ prefixHash, publicKey, keyImage, proof }: KeyImageProof): boolean {
  if (![prefixHash, publicKey, keyImage].every(({ length }) => length === 32)) return false;
  return proof.length === 64 && scIsCanonical(proof.subarray(0, 32)) && scIsCanonical(proof.subarray(32));
}

/** Verdicts of well-formed proofs; undefined if one of them contains bytes that are no point. */
function verdictsOf(proofs: readonly KeyImageProof[]): boolean[] | undefined {
  const c = concatBytes(...proofs.map(({ proof }) => proof.subarray(0, 32)));
  const r = concatBytes(...proofs.map(({ proof }) => proof.subarray(32)));
  const hashed = elementsOf(backend.hashToPoint(concatBytes(...proofs.map(({ publicKey }) => publicKey))));
  // L = r·G + c·P, R = r·Hp(P) + c·I, of all.
  const sums = backend.twinScalarMultVartime({
    a: c,
    A: concatBytes(...proofs.flatMap(({ publicKey, keyImage }) => [publicKey, keyImage])),
    b: r,
    B: concatBytes(...hashed.flatMap((point) => [G, point])),
  });
  if (sums === undefined) return undefined;
  return proofs.map(({ prefixHash, proof }, i) => {
    const challenge = hashToScalar(prefixHash, sums.subarray(64 * i, 64 * i + 64));
    return equalBytes(challenge, proof.subarray(0, 32));
  });
}

/**
 * Whether each proof holds; false for malformed proofs. A key image may have a part of small order: the caller checks
 * that before.
 */
export function checkKeyImageProofs(proofs: readonly KeyImageProof[]): boolean[] {
  return eachVerdict(proofs, isFormed, verdictsOf);
}
