/**
 * Bulletproofs+: one proof that up to 16 committed amounts are below 2⁶⁴.
 * Source: Chung, Han, Ju, Kim, Seo, https://eprint.iacr.org/2020/735; bulletproofs_plus.cc (transcript, scaling by 1/8).
 */
import { randomBytes } from "node:crypto";
import { concatBytes, elementsOf } from "../bytes.ts";
import { backend } from "../engine.ts";
import { type RandomSource, randomScalar } from "../scalar.ts";
import { proveRange } from "./bulletproofs-plus-prover.ts";

/** A proof as on the wire: points (all divided by 8) and scalars of 32 bytes, L and R of 6 + ⌈log₂ outputs⌉ points. */
export type BulletproofPlus = {
  A: Uint8Array;
  A1: Uint8Array;
  B: Uint8Array;
  r1: Uint8Array;
  s1: Uint8Array;
  d1: Uint8Array;
  L: Uint8Array[];
  R: Uint8Array[];
};

/** A proof with its output commitments, as in the transaction (not divided by 8). */
export type ProvenCommitments = { proof: BulletproofPlus; commitments: readonly Uint8Array[] };

/**
 * Proves 1 to 16 amounts in atomic units, each committed to with its mask (32 bytes, below ℓ).
 * Throws `RangeError` on amounts, masks or counts out of range.
 */
export function proveBulletproofPlus(
  amounts: readonly bigint[],
  masks: readonly Uint8Array[],
  random: RandomSource = randomBytes,
): { proof: BulletproofPlus; commitments: Uint8Array[] } {
  const { proof, commitments } = proveRange({ amounts, masks, random });
  return {
    proof: { ...proof, L: elementsOf(proof.L), R: elementsOf(proof.R) },
    commitments: elementsOf(commitments),
  };
}

/**
 * Whether every proof of the batch holds; true for none, false on anything malformed.
 * One multi-exponentiation with random weights; a false proof passes with probability 2⁻²⁵².
 */
export function verifyBulletproofsPlus(
  batch: readonly ProvenCommitments[],
  random: RandomSource = randomBytes,
): boolean {
  if (!batch.every(hasElements)) return false;
  const parts = batch.map(({ proof, commitments }) => ({
    ...proof,
    L: concatBytes(...proof.L),
    R: concatBytes(...proof.R),
    commitments: concatBytes(...commitments),
  }));
  return backend.verifyBulletproofsPlus(parts, concatBytes(...batch.map(() => randomScalar(random))));
}

/** Whether all parts are elements of 32 bytes. */
function hasElements({ proof, commitments }: ProvenCommitments): boolean {
  const { A, A1, B, r1, s1, d1, L, R } = proof;
  return [A, A1, B, r1, s1, d1, ...L, ...R, ...commitments].every(({ length }) => length === 32);
}
