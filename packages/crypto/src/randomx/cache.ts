/** What light mode computes from a key. Source: RandomX specification, chapter 7 (github.com/tevador/RandomX, doc/specs.md). */

import { concatBytes } from "../bytes.ts";
import type { WasmMemory, WasmModule } from "../wasm-values.ts";
import { writeDatasetModule } from "./dataset-module.ts";
import { blake2b, createMachine, fixedModule, type Machine, placeConstants } from "./fixed.ts";
import * as at from "./memory.ts";
import { generateSuperscalar, type SuperscalarProgram, type SuperscalarRandom } from "./superscalar.ts";
import { compileLongLived } from "./tiering.ts";

const SUPERSCALAR_PROGRAMS = 8;
const MAX_KEY_BYTES = 60;
const ARGON_BLOCK_BYTES = 1024;
const SALT = new TextEncoder().encode("RandomX\x03");

/**
 * Everything that depends on a key, about 260 MiB. Plain data that `postMessage` shares with the other threads of the
 * process: one thread makes it, all hash with it.
 */
export type RandomXCache = {
  readonly key: Uint8Array;
  /** Shared between the threads that have the cache. */
  readonly memory: WasmMemory;
  /** What no key changes. */
  readonly fixedPart: WasmModule;
  /** Computes dataset items. */
  readonly items: WasmModule;
};

function wordBytes(...values: readonly number[]): Uint8Array {
  const view = new DataView(new ArrayBuffer(4 * values.length));
  values.forEach((value, i) => void view.setUint32(4 * i, value, true));
  return new Uint8Array(view.buffer);
}

/** Argon2's hash of variable length. Source: RFC 9106, section 3.3. */
function longHash(machine: Machine, outBytes: number, data: Uint8Array): Uint8Array {
  let block = blake2b(machine, 64, concatBytes(wordBytes(outBytes), data));
  const parts: Uint8Array[] = [];
  for (let remaining = outBytes; ; remaining -= 32) {
    if (remaining <= 64) return concatBytes(...parts, block);
    parts.push(block.subarray(0, 32));
    block = blake2b(machine, Math.min(64, remaining - 32), block);
  }
}

/** Source: specification 7.1; RFC 9106, sections 3.2 and 3.4. */
function fillCache(machine: Machine, key: Uint8Array): void {
  const [lanes, outBytes, kibibytes, passes, version, type] = [1, 0, 262144, 3, 0x13, 0];
  const head = wordBytes(lanes, outBytes, kibibytes, passes, version, type, key.length);
  const seed = blake2b(machine, 64, concatBytes(head, key, wordBytes(SALT.length), SALT, wordBytes(0, 0)));
  for (const index of [0, 1]) {
    const block = longHash(machine, ARGON_BLOCK_BYTES, concatBytes(seed, wordBytes(index, 0)));
    machine.bytes.set(block, at.DATA + ARGON_BLOCK_BYTES * index);
  }
  machine.fixed.fillCache(at.DATA, machine.slot.work);
}

/** Random bytes from the key, 64 at a time. Source: specification 3.5. */
export function createRandom(machine: Machine, key: Uint8Array): SuperscalarRandom {
  let state: Uint8Array = new Uint8Array(64);
  state.set(key);
  let next = state.length;
  const take = (count: number): number => {
    if (next + count > state.length) {
      state = blake2b(machine, 64, state);
      next = 0;
    }
    next += count;
    return next - count;
  };
  return {
    byte() {
      const offset = take(1);
      return state[offset]!;
    },
    word() {
      const offset = take(4);
      return new DataView(state.buffer).getUint32(offset, true);
    },
  };
}

/** The eight SuperscalarHash programs of a key. Source: specification 7.2. */
function superscalarPrograms(machine: Machine, key: Uint8Array): SuperscalarProgram[] {
  const random = createRandom(machine, key);
  return Array.from({ length: SUPERSCALAR_PROGRAMS }, () => generateSuperscalar(random));
}

export type RandomXCacheOptions = {
  /** The memory of a cache that no thread uses any more, to be overwritten. */
  readonly memory?: WasmMemory;
};

/**
 * Creates the cache of a key (0 to 60 bytes, else `RangeError`): about a second of work in this thread, so a node does
 * it in a worker and posts the cache to the threads that hash. Memory is freed once no thread refers to it; to be sure,
 * pass the memory of an old cache to the new one.
 */
export function createRandomXCache(key: Uint8Array, options: RandomXCacheOptions = {}): RandomXCache {
  if (key.length > MAX_KEY_BYTES)
    throw new RangeError(`a RandomX key has at most ${MAX_KEY_BYTES} bytes, not ${key.length}`);
  const memory = options.memory ?? at.createSharedMemory(at.CACHE_BYTES);
  const fixedPart = fixedModule();
  const machine = createMachine({ memory, fixedPart });
  try {
    placeConstants(machine);
    fillCache(machine, key);
    const items = compileLongLived(writeDatasetModule(superscalarPrograms(machine, key)));
    return { key: Uint8Array.from(key), memory, fixedPart, items };
  } finally {
    machine.release();
  }
}

/** What a cache's module exports. */
export type ItemFunctions = {
  /** Computes two items to the address `out`, 128 bytes. */
  pair(out: number, first: bigint, second: bigint): void;
  /** Computes eight items with consecutive numbers to the address `out`, 512 bytes. */
  block(out: number, first: bigint): void;
};

/** The functions for a cache's items in its memory. Source: specification 7.3. */
export function itemFunctions({ items, memory }: RandomXCache): ItemFunctions {
  return new WebAssembly.Instance(items, { env: { memory } }).exports as ItemFunctions;
}
