/** The wallet's scan over many outputs at once: vectors of 32-byte elements, one crossing into the kernel per call. */
import type { DeriveBatchResult, PointBatchResult, TaggedOutputs, TagMatches } from "./backend.ts";
import { backend } from "./engine.ts";
import { scFromUint64 } from "./scalar.ts";

const ONE = scFromUint64(1n);

/**
 * 8·a·R for n transaction keys (32·n bytes). A key that is no point gives `valid` 0 and zeros.
 * Faster than n single derivations, but its time depends on the secret: for scanning, not for answering strangers.
 */
export function deriveBatch(request: { viewSecret: Uint8Array; publicKeys: Uint8Array }): DeriveBatchResult {
  return backend.deriveBatch(request.viewSecret, request.publicKeys);
}

/**
 * Which outputs carry the view tag of which of m view secrets (32·m bytes), outputs without a tag of all: the numbers of
 * secret and output, and the derivation 8·a·R (32 bytes each), of the identity where R is no point, key by key. The
 * multiples of each key are made once for all secrets, which pays from some ten of these on; as with `deriveBatch` time
 * depends on them.
 */
export function matchViewTags(viewSecrets: Uint8Array, outputs: TaggedOutputs): TagMatches {
  return backend.matchViewTags(viewSecrets, outputs);
}

/** 8·P for n points (32·n bytes). What is no point gives `valid` 0 and zeros. */
export function mulBy8Batch(points: Uint8Array): DeriveBatchResult {
  return backend.deriveBatch(ONE, points);
}

/** The view tag of each output: n bytes. `outputIndices` as many as derivations. */
export function viewTagBatch(derivations: Uint8Array, outputIndices: Uint32Array): Uint8Array {
  return backend.viewTags(derivations, outputIndices);
}

/** Hs(derivation ‖ i) of each output: 32·n bytes. */
export function derivationScalarBatch(derivations: Uint8Array, outputIndices: Uint32Array): Uint8Array {
  return backend.derivationScalars(derivations, outputIndices);
}

/** The spend key each output was sent to, K − Hs(derivation ‖ i)·G. A key that is no point gives `valid` 0 and zeros. */
export function outputSpendKeyBatch(outputs: {
  outputKeys: Uint8Array;
  derivations: Uint8Array;
  outputIndices: Uint32Array;
}): PointBatchResult {
  return backend.outputSpendKeys(outputs.outputKeys, outputs.derivations, outputs.outputIndices);
}

/** The public keys s_i·G of n secret keys (32·n bytes): 32·n bytes. */
export function publicKeyBatch(secretKeys: Uint8Array): Uint8Array {
  return backend.scalarMultBase(secretKeys);
}

/** The key images x_i·Hp(P_i) of n key pairs (32·n bytes each): 32·n bytes. */
export function keyImageBatch(pairs: { publicKeys: Uint8Array; secretKeys: Uint8Array }): Uint8Array {
  return backend.scalarMultHashed(pairs.secretKeys, pairs.publicKeys);
}
