import type { RandomXVersion } from "@anulo/crypto";
import { forkRules, fromHex, type PowVariant } from "@anulo/protocol";
import type { ChainView, SeedSchedule } from "./chain-view.ts";
import { RANDOMX_2_FORK } from "./constants.ts";
import type { PowHashObligation } from "./obligations.ts";
import { RuleViolation } from "./violations.ts";

/** The schedule of all networks; a shorter one is for tests. Source: rx-slow-hash.c. */
export const SEED_SCHEDULE: SeedSchedule = { epochBlocks: 2048, lagBlocks: 64 };

/**
 * Parses a seed schedule from SEEDHASH_EPOCH_BLOCKS and SEEDHASH_EPOCH_LAG: powers of two up to those of the normal
 * schedule (2048, 64); any other value means the normal one. Source: rx-slow-hash.c `get_seedhash_epoch_blocks`,
 * `get_seedhash_epoch_lag`.
 */
export function parseSeedSchedule(epochBlocks: string | undefined, lagBlocks?: string): SeedSchedule {
  return {
    epochBlocks: powerOfTwo(epochBlocks, { from: 2, to: SEED_SCHEDULE.epochBlocks }),
    lagBlocks: powerOfTwo(lagBlocks, { from: 1, to: SEED_SCHEDULE.lagBlocks }),
  };
}

function powerOfTwo(text: string | undefined, { from, to }: { from: number; to: number }): number {
  const value = Number.parseInt(text ?? "", 10);
  return value >= from && value <= to && Number.isInteger(Math.log2(value)) ? value : to;
}

/**
 * Height of the block whose id seeds RandomX for a block at this height.
 * Source: rx-slow-hash.c `rx_seedheight`.
 */
export function seedHeight(height: number, { epochBlocks, lagBlocks } = SEED_SCHEDULE): number {
  if (height <= epochBlocks + lagBlocks) return 0;
  const settled = height - lagBlocks - 1;
  return settled - (settled % epochBlocks);
}

/**
 * Height of the seed block that is needed after `lagBlocks` more blocks, which may be the current one, so that it can
 * be prepared. Source: rx-slow-hash.c `rx_seedheights`.
 */
export function nextSeedHeight(height: number, schedule: SeedSchedule = SEED_SCHEDULE): number {
  return seedHeight(height + schedule.lagBlocks, schedule);
}

/** How blocks of this major version are hashed. Source: cryptonote_tx_utils.cpp `get_block_longhash`, slow-hash.c. */
export function powVariantOf(majorVersion: number): PowVariant {
  return forkRules(majorVersion).powVariant;
}

/** The version of RandomX that hashes blocks of this major version, where RandomX does. */
export function randomXVersionOf(majorVersion: number): RandomXVersion {
  return majorVersion >= RANDOMX_2_FORK ? 2 : 1;
}

/** The versions of RandomX that the hard forks use. */
export const RANDOMX_VERSIONS: readonly RandomXVersion[] =
  RANDOMX_2_FORK === Number.POSITIVE_INFINITY ? [1] : [1, 2];

/** Height of a block of mainnet whose hash the programs of that time computed wrongly. */
const WRONG_HASH_HEIGHT = 202_612;
const wrongHash = fromHex("84f64766475d51837ac9efbef1926486e58563c95a19fef4aec3254f03000000");

/**
 * The proof-of-work hash (32 bytes) at a height where it is fixed instead of computed, for any block; undefined at
 * every height but 202,612. Source: cryptonote_tx_utils.cpp `get_block_longhash`.
 */
export function agreedPowHash(height: number): Uint8Array | undefined {
  return height === WRONG_HASH_HEIGHT ? wrongHash.slice() : undefined;
}

/** A block whose proof of work is to be checked. */
export interface PowCandidate {
  /** Block hashing blob. */
  blob: Uint8Array;
  height: number;
  majorVersion: number;
  difficulty: bigint;
}

/** What the rules need of a chain to find a seed block. */
export type SeedView = Pick<ChainView, "blockId" | "seedSchedule">;

/**
 * The obligation to check a block's proof of work; none at difficulty 1, which every hash meets, and none where the
 * hash is fixed: throws `RuleViolation` if that does not meet the difficulty.
 */
export function proofOfWork(candidate: PowCandidate, view: SeedView): PowHashObligation[] {
  const { difficulty, height, majorVersion } = candidate;
  if (difficulty <= 1n) return [];
  const agreed = agreedPowHash(height);
  if (agreed !== undefined) {
    if (!meetsDifficulty(agreed, difficulty)) throw new RuleViolation({ code: "PROOF_OF_WORK", difficulty });
    return [];
  }
  const isSeeded = powVariantOf(majorVersion) === "randomx";
  const seedId = isSeeded ? view.blockId(seedHeight(height, view.seedSchedule)) : undefined;
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
