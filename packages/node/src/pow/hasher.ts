import { meetsDifficulty, powVariantOf } from "@anulo/consensus";
import { cnSlowHash, createRandomXCache, type RandomXCache, randomxHash } from "@anulo/crypto";
import { toHex } from "@anulo/protocol";
import { type FoundNonce, NONCES, type PowSearch, type PowWork, withNonce } from "./work.ts";

/** Computes proof-of-work hashes, one after the other, in the thread it is made in. */
export interface Hasher {
  /** 32 bytes; takes 25 to 90 ms, and a second more for a seed it has not met lately. */
  hash(work: PowWork): Uint8Array;
  /** Tries `count` nonces from `nonce` on and stops at the first that meets the difficulty. */
  tryNonces(search: PowSearch, nonce: number, count: number): Tried;
  /** Builds what the seed (32 bytes) needs. */
  prepare(seedId: Uint8Array): void;
}

/** What became of a few nonces. */
export interface Tried {
  readonly hashes: number;
  readonly found: FoundNonce | undefined;
}

/** The seed in use and the next one, or an alternative chain's. */
export const MAX_CACHES = 2;

/** A hasher that holds nothing until it is used. */
export function createHasher(): Hasher {
  const caches = new Map<string, RandomXCache>();
  const cacheOf = (seedId: Uint8Array): RandomXCache => {
    const key = toHex(seedId);
    const cache = caches.get(key) ?? makeRoom(caches, seedId);
    caches.delete(key);
    caches.set(key, cache);
    return cache;
  };
  const hash = ({ blob, height, majorVersion, seedId }: PowWork): Uint8Array => {
    const variant = powVariantOf(majorVersion);
    if (variant !== "randomx") return cnSlowHash(blob, { variant, ...(variant === 4 && { height }) });
    if (seedId === undefined) throw new RangeError("RandomX needs a seed");
    return randomxHash(cacheOf(seedId), blob);
  };
  return {
    hash,
    tryNonces(search, nonce, count) {
      for (let i = 0; i < count; i++) {
        const blob = withNonce(search.blob, search.nonceOffset, nonce + i);
        const made = hash({ ...search, blob });
        if (!meetsDifficulty(made, search.difficulty)) continue;
        return { hashes: i + 1, found: { nonce: (nonce + i) % NONCES, hash: made } };
      }
      return { hashes: count, found: undefined };
    },
    prepare: (seedId) => void cacheOf(seedId),
  };
}

/** Drops the cache that was used least lately before it makes one, so that there are never three. */
function makeRoom(caches: Map<string, RandomXCache>, seedId: Uint8Array): RandomXCache {
  for (const oldest of caches.keys()) {
    if (caches.size < MAX_CACHES) break;
    caches.delete(oldest);
  }
  return createRandomXCache(seedId);
}
