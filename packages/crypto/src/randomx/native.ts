/**
 * RandomX by the reference library, where the system has it: `librandomx.so.0`, called through the optional package
 * koffi. Never `randomx_calculate_hash_first`, `_next` or `_last`: they leave their rounding mode to JavaScript.
 */
import { type Call, type Koffi, loadKoffi } from "./koffi.ts";
import { CACHE_BYTES, DATASET_ITEMS } from "./memory.ts";
import { adviseLargePagesAt } from "./system-memory.ts";
import { type RandomXVector, randomxVectors } from "./vectors.ts";
import type { RandomXVersion } from "./versions.ts";
import type { RandomXVm } from "./vm.ts";

const LIBRARY = "librandomx.so.0";

/** Source: randomx.h, `randomx_flags`. */
const FLAG_LARGE_PAGES = 1;
const FLAG_FULL_MEMORY = 4;
const FLAG_JIT = 8;
const FLAG_SECURE = 16;
/** What a machine of each version needs. Before version 2.0 the library ignores the second one. */
const VERSION_FLAGS: Readonly<Record<RandomXVersion, number>> = { 1: 0, 2: 128 };

/** Items that one call computes, so that progress shows and giving up is quick. */
const CHUNK_ITEMS = 131072;

/** A cache or dataset of the library: plain data, which other threads of the process may use too. */
export type NativeRandomXSource = {
  readonly kind: "cache" | "dataset";
  /** Flags that virtual machines over it need. */
  readonly flags: number;
  readonly address: bigint;
};

export type NativeRandomXVm = RandomXVm & {
  /** The hash, computed in a thread of koffi's; one at a time. */
  hashAsync(blob: Uint8Array, version?: RandomXVersion): Promise<Uint8Array>;
};

type DatasetOptions = {
  readonly threads: number;
  readonly onProgress?: (items: number, all: number) => void;
  readonly signal?: AbortSignal;
};

/** Memory of the library is freed by `release` alone. */
export type NativeRandomX = {
  /**
   * Creates the cache of a key, about half a second of CPU time in a thread of koffi's; it reuses the memory of
   * `replaced`, which no machine may use any more.
   */
  createCache(key: Uint8Array, replaced?: NativeRandomXSource): Promise<NativeRandomXSource>;
  /** All dataset items, about a minute of CPU time in `threads` threads of koffi's. */
  createDataset(cache: NativeRandomXSource, options: DatasetOptions): Promise<NativeRandomXSource>;
  createVm(source: NativeRandomXSource): NativeRandomXVm;
  /** Frees a source, which no machine may be using any more. */
  release(source: NativeRandomXSource): void;
};

export type NativeRandomXOptions = {
  /** Versions that it must be able to compute; version 1 by default. */
  readonly versions?: readonly RandomXVersion[];
  /** Another thread of this process has loaded the library: its hashes need not be checked again. */
  readonly isChecked?: boolean;
  /** Flags of the library not to be used: monerod's `MONERO_RANDOMX_UMASK`. */
  readonly disabledFlags?: number;
};

function declare(koffi: Koffi) {
  const library = koffi.load(LIBRARY);
  return {
    firstWord: (address: bigint) => koffi.decode(address, "uint64_t"),
    flags: library.func<number>("int randomx_get_flags()"),
    allocCache: library.func<bigint | null>("void* randomx_alloc_cache(int)"),
    initCache: library.func<void>("void randomx_init_cache(void*, const uint8_t*, size_t)"),
    releaseCache: library.func<void>("void randomx_release_cache(void*)"),
    allocDataset: library.func<bigint | null>("void* randomx_alloc_dataset(int)"),
    initDataset: library.func<void>("void randomx_init_dataset(void*, void*, unsigned long, unsigned long)"),
    releaseDataset: library.func<void>("void randomx_release_dataset(void*)"),
    createVm: library.func<bigint | null>("void* randomx_create_vm(int, void*, void*)"),
    destroyVm: library.func<void>("void randomx_destroy_vm(void*)"),
    hash: library.func<void>("void randomx_calculate_hash(void*, const uint8_t*, size_t, _Out_ uint8_t*)"),
  };
}

type Library = ReturnType<typeof declare>;

function callAsync<T>(call: Call<T>, ...values: unknown[]): Promise<T> {
  return new Promise((resolve, reject) =>
    call.async(...values, (error: Error | null, result: T) => (error ? reject(error) : resolve(result))),
  );
}

/** With large pages, or without where the system grants none; throws when there is no memory at all. */
function allocate(alloc: (flags: number) => bigint | null, flags: number, disabledFlags: number): bigint {
  const address = alloc((flags | FLAG_LARGE_PAGES) & ~disabledFlags) ?? alloc(flags);
  if (address === null) throw new RangeError("no memory for RandomX");
  return address;
}

/**
 * A cache is a structure that begins with the address of its memory, in every version. glibc takes memory of that size
 * from the system for it alone, so that advice about it touches nothing else. Source: RandomX, src/dataset.hpp.
 */
function allocateCache(library: Library, flags: number, disabledFlags: number): bigint {
  const address = allocate(library.allocCache, flags, disabledFlags);
  adviseLargePagesAt(BigInt(library.firstWord(address)), CACHE_BYTES);
  return address;
}

type Options = { readonly disabledFlags: number; readonly versions: readonly RandomXVersion[] };

/** The library has a machine for each version, made when it is first needed. */
function createVm(
  library: Library,
  source: NativeRandomXSource,
  { disabledFlags, versions }: Options,
): NativeRandomXVm {
  const [cache, dataset] = source.kind === "cache" ? [source.address, null] : [null, source.address];
  const machines = new Map<RandomXVersion, bigint>();
  let isClosed = false;
  const machineOf = (version: RandomXVersion): bigint => {
    if (isClosed) throw new Error("this RandomX machine is closed");
    if (!versions.includes(version)) throw new RangeError(`librandomx is not for RandomX version ${version}`);
    // Not among the flags that can be disabled: without it the hashes would be those of the other version.
    const alloc = (flags: number) => library.createVm(flags | VERSION_FLAGS[version], cache, dataset);
    const machine = machines.get(version) ?? allocate(alloc, source.flags, disabledFlags);
    machines.set(version, machine);
    return machine;
  };
  return {
    hash(blob, version = 1) {
      const out = new Uint8Array(32);
      library.hash(machineOf(version), blob, blob.length, out);
      return out;
    },
    async hashAsync(blob, version = 1) {
      const out = new Uint8Array(32);
      await callAsync(library.hash, machineOf(version), blob, blob.length, out);
      return out;
    },
    close() {
      isClosed = true;
      for (const machine of machines.values()) library.destroyVm(machine);
      machines.clear();
    },
  };
}

/** Fills a dataset in several threads; whatever happens, none writes any more when the promise is settled. */
async function initDataset(
  library: Library,
  [dataset, cache]: readonly [bigint, bigint],
  { threads, onProgress, signal }: DatasetOptions,
): Promise<void> {
  let [next, done] = [0, 0];
  const failures: unknown[] = [];
  const work = async (): Promise<void> => {
    while (next < DATASET_ITEMS && !signal?.aborted && failures.length === 0) {
      const first = next;
      const items = Math.min(CHUNK_ITEMS, DATASET_ITEMS - first);
      next += items;
      await callAsync(library.initDataset, dataset, cache, first, items);
      done += items;
      onProgress?.(done, DATASET_ITEMS);
    }
  };
  const fail = (error: unknown): void => void failures.push(error);
  await Promise.all(Array.from({ length: threads }, () => work().catch(fail)));
  signal?.throwIfAborted();
  if (failures.length > 0) throw failures[0];
}

function createNative(library: Library, options: Options): NativeRandomX {
  const { disabledFlags } = options;
  const own = library.flags() & ~disabledFlags;
  const secure = own & FLAG_JIT ? FLAG_SECURE & ~disabledFlags : 0;
  return {
    async createCache(key, replaced) {
      const address = replaced?.address ?? allocateCache(library, own, disabledFlags);
      await callAsync(library.initCache, address, key, key.length);
      return { kind: "cache", flags: own | secure, address };
    },
    async createDataset(cache, making) {
      const address = allocate(library.allocDataset, 0, disabledFlags);
      try {
        await initDataset(library, [address, cache.address], making);
      } catch (error) {
        library.releaseDataset(address);
        throw error;
      }
      return { kind: "dataset", flags: own | FLAG_FULL_MEMORY, address };
    },
    createVm: (source) => createVm(library, source, options),
    release: ({ kind, address }) =>
      kind === "cache" ? library.releaseCache(address) : library.releaseDataset(address),
  };
}

const toHex = (bytes: Uint8Array): string => Buffer.from(bytes).toString("hex");

/** The first of the versions in which a machine hashes otherwise than published. */
async function wrongVersionOf(
  vm: NativeRandomXVm,
  { input, hashes }: RandomXVector,
  versions: readonly RandomXVersion[],
): Promise<RandomXVersion | undefined> {
  for (const version of versions) {
    const expected = hashes[version];
    if (expected !== undefined && toHex(await vm.hashAsync(input, version)) !== expected) return version;
  }
  return undefined;
}

/** The same of the library, over all that is published. */
async function wrongVersion(
  native: NativeRandomX,
  versions: readonly RandomXVersion[],
): Promise<RandomXVersion | undefined> {
  let cache: NativeRandomXSource | undefined;
  let keyOfCache = "";
  try {
    for (const vector of randomxVectors) {
      const { key } = vector;
      if (toHex(key) !== keyOfCache) cache = await native.createCache(key, cache);
      keyOfCache = toHex(key);
      const vm = native.createVm(cache!);
      const wrong = await wrongVersionOf(vm, vector, versions);
      vm.close();
      if (wrong !== undefined) return wrong;
    }
    return undefined;
  } finally {
    if (cache !== undefined) native.release(cache);
  }
}

/**
 * Loads the library, or returns why there is none: it or koffi is missing, the processor is not an x86-64 (before
 * version 1.2.2, which cannot be distinguished from others, compiled code was wrong elsewhere), or it fails a published
 * hash of a requested version. The check takes about two seconds, in another thread.
 */
export async function loadNativeRandomX(
  options: NativeRandomXOptions = {},
): Promise<NativeRandomX | { readonly missing: string }> {
  if (process.arch !== "x64") return { missing: `librandomx is not trusted on ${process.arch}` };
  let library: Library;
  try {
    library = declare(loadKoffi());
  } catch (error) {
    return { missing: error instanceof Error ? error.message : String(error) };
  }
  const { disabledFlags = 0, versions = [1], isChecked = false } = options;
  const native = createNative(library, { disabledFlags, versions });
  const wrong = isChecked ? undefined : await wrongVersion(native, versions);
  if (wrong === undefined) return native;
  return { missing: `${LIBRARY} computes wrong hashes of RandomX version ${wrong}` };
}
