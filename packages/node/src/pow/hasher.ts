import { meetsDifficulty, powVariantOf } from "@anulo/consensus";
import {
  cnSlowHash,
  createRandomXCache,
  createRandomXVm,
  type RandomXCache,
  type RandomXVm,
} from "@anulo/crypto";
import { toHex } from "@anulo/protocol";
import type { ThreadMessage, ThreadResult, ThreadTask } from "./messages.ts";
import { type FoundNonce, NONCES, type PowSearch, type PowWork, withNonce } from "./work.ts";

/** Computes proof-of-work hashes, one after the other, in the thread it is made in. */
export interface Hasher {
  /** Obeys a message; the result of a task, which takes 25 to 100 ms a hash and a second for a cache. */
  obey(message: ThreadMessage): ThreadResult | undefined;
}

/** A hasher that holds nothing until it is told to. */
export function createHasher(): Hasher {
  const vms = new Map<string, RandomXVm>();
  const take = (seed: string, cache: RandomXCache) => {
    if (!vms.has(seed)) vms.set(seed, createRandomXVm(cache));
  };
  const drop = (seed: string) => {
    vms.get(seed)?.close();
    vms.delete(seed);
  };
  const hash = (work: PowWork): Uint8Array => {
    const { blob, height, majorVersion, seedId } = work;
    const variant = powVariantOf(majorVersion);
    if (variant !== "randomx") return cnSlowHash(blob, { variant, ...(variant === 4 && { height }) });
    const vm = seedId === undefined ? undefined : vms.get(toHex(seedId));
    if (vm === undefined) throw new RangeError("RandomX needs a seed");
    return vm.hash(blob);
  };
  return {
    obey(message) {
      if (message.type === "take") take(message.seed, message.cache);
      else if (message.type === "drop") drop(message.seed);
      else return perform(message, hash);
      return undefined;
    },
  };
}

function perform(task: ThreadTask, hash: (work: PowWork) => Uint8Array): ThreadResult {
  switch (task.type) {
    case "hash":
      return { type: "hashed", hash: hash(task.work) };
    case "try":
      return { type: "tried", ...tryNonces(task, hash) };
    case "make": {
      const { seedId, memory } = task;
      return { type: "made", cache: createRandomXCache(seedId, memory === undefined ? {} : { memory }) };
    }
  }
}

interface Trial {
  readonly search: PowSearch;
  readonly nonce: number;
  readonly count: number;
}

/** Stops at the first nonce that meets the difficulty. */
function tryNonces({ search, nonce, count }: Trial, hash: (work: PowWork) => Uint8Array) {
  let found: FoundNonce | undefined;
  let hashes = 0;
  while (hashes < count && found === undefined) {
    const tried = (nonce + hashes) % NONCES;
    const made = hash({ ...search, blob: withNonce(search.blob, search.nonceOffset, tried) });
    if (meetsDifficulty(made, search.difficulty)) found = { nonce: tried, hash: made };
    hashes++;
  }
  return { hashes, found };
}
