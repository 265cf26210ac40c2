import type { Obligation } from "@anulo/consensus";

/**
 * Rough processor time (milliseconds) of an obligation; that of a proof of work is RandomX with its cache alone, once
 * this is made.
 */
const costOf: { readonly [K in Obligation["kind"]]: number } = {
  powHash: 15,
  borromean: 7,
  clsag: 1.3,
  mlsag: 1.4,
  fullMlsag: 2.3,
  ringSignature: 1.4,
  bulletproof: 1.4,
  rangeProof: 1.2,
  keyImages: 0.15,
  balance: 0.15,
  outputKeys: 0.05,
};

export const proofCost = ({ kind }: Obligation): number => costOf[kind];

/** Returns the processor time (milliseconds) of checking all of these. */
export const proofsCost = (obligations: readonly Obligation[]): number =>
  obligations.reduce((sum, obligation) => sum + proofCost(obligation), 0);
