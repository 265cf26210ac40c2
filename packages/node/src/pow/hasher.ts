import { meetsDifficulty, powVariantOf, RANDOMX_VERSIONS, randomXVersionOf } from "@anulo/consensus";
import {
  cnSlowHash,
  createRandomXCache,
  createRandomXVm,
  forgetPages,
  loadNativeRandomX,
  type NativeRandomX,
  type NativeRandomXSource,
  type NativeRandomXVm,
  type RandomXVm,
} from "@anulo/crypto";
import type { SeedSource, ThreadMessage, ThreadResult, ThreadTask } from "./messages.ts";
import type { ProcessSettings } from "./process-settings.ts";
import { type FoundNonce, NONCES, type PowSearch, type PowWork, withNonce } from "./work.ts";

/** Computes proof-of-work hashes, one after the other, in the thread in which it was created. */
export interface Hasher {
  /**
   * Executes a message; returns the result of a task, which takes 25 to 100 ms per hash and up to a second for a cache.
   */
  execute(message: ThreadMessage): Promise<ThreadResult | undefined>;
  /** Releases all its sources. */
  close(): void;
}

type Settings = Pick<ProcessSettings, "disabledFlags">;
type Hash = (work: PowWork, source: string | undefined) => Uint8Array;
type Vm = RandomXVm | NativeRandomXVm;

/**
 * Creates a hasher without sources. With `isBeside`, single hashes of the library are computed in a separate thread
 * that only the library needs, not in the thread of the hasher.
 */
export function createHasher(settings: Settings, { isBeside = false } = {}): Hasher {
  const vms = new Map<string, Vm>();
  let library: Promise<NativeRandomX> | undefined;
  /** Another thread has checked the library. */
  const native = () => (library ??= loadChecked(settings));
  const take = async (name: string, source: SeedSource) => {
    if (vms.has(name)) return;
    vms.set(name, isNative(source) ? (await native()).createVm(source) : createRandomXVm(source));
  };
  const drop = (name: string) => {
    vms.get(name)?.close();
    vms.delete(name);
  };
  const vmOf = (source: string | undefined): Vm => {
    const vm = source === undefined ? undefined : vms.get(source);
    if (vm === undefined) throw new RangeError("RandomX needs a seed");
    return vm;
  };
  const hash: Hash = ({ blob, height, majorVersion }, source) => {
    const variant = powVariantOf(majorVersion);
    if (variant !== "randomx") return cnSlowHash(blob, { variant, ...(variant === 4 && { height }) });
    return vmOf(source).hash(blob, randomXVersionOf(majorVersion));
  };
  const hashBeside = async (work: PowWork, source: string | undefined) => {
    const vm = vmOf(source);
    if (!("hashAsync" in vm)) return hash(work, source);
    return vm.hashAsync(work.blob, randomXVersionOf(work.majorVersion));
  };
  return {
    close: () => void [...vms.keys()].forEach(drop),
    async execute(message) {
      switch (message.type) {
        case "take":
          await take(message.name, message.source);
          return undefined;
        case "drop":
          drop(message.name);
          return undefined;
        case "choose":
          return choose(settings);
        case "make":
          return { type: "made", source: await make(message, native) };
        case "hash": {
          const { work, source } = message;
          return { type: "hashed", hash: await (isBeside ? hashBeside : hash)(work, source) };
        }
        case "free":
          await free(message.source, native);
          return { type: "freed" };
        case "try":
          return { type: "tried", ...tryNonces(message, hash) };
      }
    },
  };
}

function isNative(source: SeedSource): source is NativeRandomXSource {
  return "address" in source;
}

async function loadChecked({ disabledFlags }: Settings): Promise<NativeRandomX> {
  const loaded = await loadNativeRandomX({ isChecked: true, disabledFlags, versions: RANDOMX_VERSIONS });
  if ("missing" in loaded) throw new Error(loaded.missing);
  return loaded;
}

/** Chooses the system's library if it is present and correct in every version of RandomX that hard forks use. */
async function choose({ disabledFlags }: Settings): Promise<ThreadResult> {
  const loaded = await loadNativeRandomX({ disabledFlags, versions: RANDOMX_VERSIONS });
  if ("missing" in loaded) return { type: "chosen", engine: "portable", reason: loaded.missing };
  return { type: "chosen", engine: "native", reason: undefined };
}

type MakeTask = Extract<ThreadTask, { readonly type: "make" }>;

/** Uses the memory of the source that is replaced. */
async function make(
  { seedId, engine, replaced }: MakeTask,
  native: () => Promise<NativeRandomX>,
): Promise<SeedSource> {
  if (engine === "portable") {
    if (replaced === undefined || isNative(replaced)) return createRandomXCache(seedId);
    return createRandomXCache(seedId, { memory: replaced.memory });
  }
  const library = await native();
  return library.createCache(seedId, replaced !== undefined && isNative(replaced) ? replaced : undefined);
}

/** Memory of our own is freed with its last reference, which may take long: its pages are released at once. */
async function free(source: SeedSource, native: () => Promise<NativeRandomX>): Promise<void> {
  if (isNative(source)) (await native()).release(source);
  else forgetPages(source.memory);
}

interface NonceTrial {
  readonly source: string | undefined;
  readonly search: PowSearch;
  readonly nonce: number;
  readonly count: number;
}

/** Stops at the first nonce that meets the difficulty. */
function tryNonces({ search, source, nonce, count }: NonceTrial, hash: Hash) {
  let best: FoundNonce | undefined;
  let hashes = 0;
  while (hashes < count && best === undefined) {
    const tried = (nonce + hashes) % NONCES;
    const powHash = hash({ ...search, blob: withNonce(search.blob, search.nonceOffset, tried) }, source);
    if (meetsDifficulty(powHash, search.difficulty)) best = { nonce: tried, hash: powHash };
    hashes++;
  }
  return { hashes, nonce: best };
}
