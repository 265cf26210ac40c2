import type { ChainView } from "./chain-view.ts";
import { hardFork } from "./constants.ts";
import type { PowHashObligation } from "./obligations.ts";

const SEED_EPOCH_BLOCKS = 2048;
const SEED_LAG_BLOCKS = 64;

/**
 * Height of the block whose id seeds RandomX for a block at this height.
 * Source: rx-slow-hash.c `rx_seedheight`.
 */
export function seedHeight(height: number): number {
  if (height <= SEED_EPOCH_BLOCKS + SEED_LAG_BLOCKS) return 0;
  const settled = height - SEED_LAG_BLOCKS - 1;
  return settled - (settled % SEED_EPOCH_BLOCKS);
}

/** A block to judge by its work. */
export interface PowCandidate {
  /** Block hashing blob. */
  blob: Uint8Array;
  height: number;
  majorVersion: number;
  difficulty: bigint;
}

/** The obligation to check a block's work; none at difficulty 1, which every hash meets. */
export function proofOfWork(candidate: PowCandidate, blockId: ChainView["blockId"]): PowHashObligation[] {
  if (candidate.difficulty <= 1n) return [];
  const seeded = candidate.majorVersion >= hardFork.randomX;
  const seedId = seeded ? blockId(seedHeight(candidate.height)) : undefined;
  return [{ kind: "powHash", ...candidate, seedId }];
}

/**
 * True when hash · difficulty < 2^256, the hash (32 bytes) read as a little-endian number.
 * Source: difficulty.cpp `check_hash`.
 */
export function meetsDifficulty(hash: Uint8Array, difficulty: bigint): boolean {
  let value = 0n;
  for (let i = hash.length - 1; i >= 0; i--) value = (value << 8n) | BigInt(hash[i]!);
  return value * difficulty < 1n << 256n;
}
