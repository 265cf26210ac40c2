/**
 * Proofs that one secret r stands behind both R = r·G (or r·B, for a subaddress with spend key B) and D = r·A.
 * Source: crypto.cpp `generate_tx_proof`, `generate_tx_proof_v1`, `check_tx_proof`.
 */
import { asciiBytes, checkLength, concatBytes, equalBytes, wipe } from "./bytes.ts";
import { backend } from "./engine.ts";
import { keccak256 } from "./hash/keccak.ts";
import { G, hashToScalar, requirePoint } from "./point.ts";
import { type RandomSource, randomScalar, scIsCanonical, scMulSub } from "./scalar.ts";

export type TxProofStatement = {
  /** What the proof is bound to, 32 bytes. */
  prefixHash: Uint8Array;
  R: Uint8Array;
  /** The recipient's public view key. */
  A: Uint8Array;
  /** The recipient's public spend key, where it is a subaddress. */
  B?: Uint8Array | undefined;
  D: Uint8Array;
  /** Version 1 does not bind R, A and B; still checked, no longer made by wallets. */
  version: 1 | 2;
};

function challenge(statement: TxProofStatement, X: Uint8Array, Y: Uint8Array): Uint8Array {
  const { prefixHash, R, A, B, D, version } = statement;
  if (version === 1) return hashToScalar(prefixHash, D, X, Y);
  const domain = keccak256(asciiBytes("TXPROOF_V2"));
  return hashToScalar(prefixHash, D, X, Y, domain, R, A, B ?? new Uint8Array(32));
}

/** The proof c ‖ s, 64 bytes; throws `InvalidPoint` where R, A, B or D is no point. */
export function generateTxProof(
  statement: TxProofStatement,
  secret: Uint8Array,
  random?: RandomSource,
): Uint8Array {
  const { prefixHash, R, A, B, D } = statement;
  checkLength("prefix hash", prefixHash, 32);
  for (const point of B ? [R, A, B, D] : [R, A, D])
    requirePoint(backend.isPoint(point) ? point : undefined, "key");
  const k = randomScalar(random);
  try {
    const X = B ? requirePoint(backend.scalarMult(k, B), "spend public key") : backend.scalarMultBase(k);
    const Y = requirePoint(backend.scalarMult(k, A), "view public key");
    const c = challenge(statement, X, Y);
    return concatBytes(c, scMulSub(c, secret, k));
  } finally {
    wipe(k);
  }
}

/** Whether the 64 bytes prove the statement; false on anything malformed. */
export function checkTxProof(statement: TxProofStatement, proof: Uint8Array): boolean {
  const { prefixHash, R, A, B, D } = statement;
  const points = B ? [R, A, B, D] : [R, A, D];
  if (prefixHash.length !== 32 || proof.length !== 64) return false;
  if (!points.every((point) => point.length === 32 && backend.isPoint(point))) return false;
  const c = proof.subarray(0, 32);
  const s = proof.subarray(32);
  if (!scIsCanonical(c) || !scIsCanonical(s)) return false;
  const X = backend.doubleScalarMultVartime({ a: c, A: R, b: s, B: B ?? G });
  const Y = backend.doubleScalarMultVartime({ a: c, A: D, b: s, B: A });
  return X !== undefined && Y !== undefined && equalBytes(challenge(statement, X, Y), c);
}
