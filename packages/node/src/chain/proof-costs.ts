import { type ChainView, nextSeedHeight, type Obligation, powVariantOf, seedHeight } from "@anulo/consensus";
import { equalBytes } from "@anulo/protocol";

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

/** Processor time (milliseconds) of making RandomX's cache for a seed, roughly. */
export const SEED_COST_MS = 500;

/** What the costs of proofs need to know of the chain. */
export type CostView = Pick<ChainView, "height" | "hardForkVersion" | "blockId" | "seedSchedule">;

/** The seeds (32 bytes each) whose caches are there, or will be needed anyway: those of the next blocks. */
function seedsInUse({ height, hardForkVersion, seedSchedule, blockId }: CostView): Uint8Array[] {
  if (height === 0 || powVariantOf(hardForkVersion) !== "randomx") return [];
  return [seedHeight(height, seedSchedule), nextSeedHeight(height, seedSchedule)].map((at) => blockId(at));
}

/**
 * Creates the costs of proofs on a chain: a proof of work with another seed than the chain's, of an old branch, has a
 * cache made for it, unless the one before had the same.
 */
export function createProofCosts(view: () => CostView): (obligations: readonly Obligation[]) => number {
  let lastSeed: Uint8Array | undefined;
  const seedCost = (obligation: Obligation): number => {
    if (obligation.kind !== "powHash" || obligation.seedId === undefined) return 0;
    const { seedId } = obligation;
    if (lastSeed !== undefined && equalBytes(lastSeed, seedId)) return 0;
    if (seedsInUse(view()).some((seed) => equalBytes(seed, seedId))) return 0;
    lastSeed = seedId;
    return SEED_COST_MS;
  };
  return (obligations) =>
    obligations.reduce((sum, obligation) => sum + proofCost(obligation) + seedCost(obligation), 0);
}
