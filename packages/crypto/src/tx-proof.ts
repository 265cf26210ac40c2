/**
 * Proofs that one secret r stands behind both R = r·G (or r·B, for a subaddress with spend key B) and D = r·A.
 * Source: crypto.cpp `generate_tx_proof`, `generate_tx_proof_v1`, `check_tx_proof`.
 */
import { asciiBytes, checkLength, concatBytes, elementAt, equalBytes, wipe } from "./bytes.ts";
import { eachVerdict } from "./each-verdict.ts";
import { backend } from "./engine.ts";
import { keccak256 } from "./hash/keccak.ts";
import { G, hashToScalar, InvalidPoint, requirePoint } from "./point.ts";
import { type RandomSource, randomScalars, scIsCanonical, scMulSub } from "./scalar.ts";

export type TxProofStatement = {
  /** What the proof is bound to, 32 bytes. */
  prefixHash: Uint8Array;
  R: Uint8Array;
  /** The recipient's public view key. */
  A: Uint8Array;
  /** The recipient's public spend key, where it is a subaddress. */
  B?: Uint8Array | undefined;
  D: Uint8Array;
  /** Version 1 does not bind R, A and B; it is still checked, but wallets do not create it any more. */
  version: 1 | 2;
};

export type TxProof = { readonly statement: TxProofStatement; readonly proof: Uint8Array };

let domain: Uint8Array | undefined;
const NO_SPEND_KEY = new Uint8Array(32);

function challenge(statement: TxProofStatement, X: Uint8Array, Y: Uint8Array): Uint8Array {
  const { prefixHash, R, A, B, D, version } = statement;
  if (version === 1) return hashToScalar(prefixHash, D, X, Y);
  domain ??= keccak256(asciiBytes("TXPROOF_V2"));
  return hashToScalar(prefixHash, D, X, Y, domain, R, A, B ?? NO_SPEND_KEY);
}

const pointsOf = ({ R, A, B, D }: TxProofStatement) => (B ? [R, A, B, D] : [R, A, D]);

/** What is to be proven of a secret r: all but D, which the secret gives. */
export type TxProofClaim = Omit<TxProofStatement, "D">;

/** The shared secret r·A (32 bytes), the key derivation 8·r·A (32 bytes) and the proof c ‖ s (64 bytes). */
export type SharedSecretProof = {
  readonly D: Uint8Array;
  readonly derivation: Uint8Array;
  readonly proof: Uint8Array;
};

/** Shared secrets and their proofs, of claims with one secret; throws `InvalidPoint` where A or B is no point. R is not checked. */
export function generateTxProofs(
  claims: readonly TxProofClaim[],
  secret: Uint8Array,
  random?: RandomSource,
): SharedSecretProof[] {
  for (const { prefixHash, R } of claims) {
    checkLength("prefix hash", prefixHash, 32);
    checkLength("R", R, 32);
  }
  const nonces = randomScalars(claims.length, random);
  const all = concatBytes(...nonces);
  const ofSubaddresses = concatBytes(...nonces.filter((_, i) => claims[i]!.B));
  try {
    const bases = claims.flatMap(({ B }) => (B ? [B] : []));
    const others = requirePoint(
      backend.scalarMult(ofSubaddresses, concatBytes(...bases)),
      "spend public key",
    );
    const points = concatBytes(...claims.map(({ A }) => A));
    const shared = backend.shareSecret({ secret, nonces: all, points });
    if (shared === undefined) throw new InvalidPoint("view public key");
    let next = 0;
    return claims.map((claim, i) => {
      const D = elementAt(shared.D, i);
      const X = claim.B ? elementAt(others, next++) : elementAt(shared.X, i);
      const c = challenge({ ...claim, D }, X, elementAt(shared.Y, i));
      const derivation = elementAt(shared.derivations, i);
      return { D, derivation, proof: concatBytes(c, scMulSub(c, secret, nonces[i]!)) };
    });
  } finally {
    wipe(all, ofSubaddresses, ...nonces);
  }
}

/** A single one; throws `InvalidPoint` where A or B is no point. */
export function generateTxProof(
  claim: TxProofClaim,
  secret: Uint8Array,
  random?: RandomSource,
): SharedSecretProof {
  return generateTxProofs([claim], secret, random)[0]!;
}

function isFormed({ statement, proof }: TxProof): boolean {
  if (statement.prefixHash.length !== 32 || proof.length !== 64) return false;
  if (!pointsOf(statement).every(({ length }) => length === 32)) return false;
  return scIsCanonical(proof.subarray(0, 32)) && scIsCanonical(proof.subarray(32));
}

/** Verdicts of well-formed proofs; undefined if one of them contains bytes that are no point. */
function verdictsOf(proofs: readonly TxProof[]): boolean[] | undefined {
  const c = concatBytes(...proofs.map(({ proof }) => proof.subarray(0, 32)));
  const s = concatBytes(...proofs.map(({ proof }) => proof.subarray(32)));
  // X = c·R + s·(B or G), Y = c·D + s·A, of all.
  const sums = backend.twinScalarMultVartime({
    a: c,
    A: concatBytes(...proofs.flatMap(({ statement: { R, D } }) => [R, D])),
    b: s,
    B: concatBytes(...proofs.flatMap(({ statement: { A, B } }) => [B ?? G, A])),
  });
  if (sums === undefined) return undefined;
  return proofs.map(({ statement, proof }, i) => {
    const expected = challenge(statement, elementAt(sums, 2 * i), elementAt(sums, 2 * i + 1));
    return equalBytes(expected, proof.subarray(0, 32));
  });
}

/** Whether each proof holds; false on anything malformed. */
export function checkTxProofs(proofs: readonly TxProof[]): boolean[] {
  return eachVerdict(proofs, isFormed, verdictsOf);
}

/** Whether the 64 bytes prove the statement; false on anything malformed. */
export function checkTxProof(statement: TxProofStatement, proof: Uint8Array): boolean {
  return checkTxProofs([{ statement, proof }])[0]!;
}
