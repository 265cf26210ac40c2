/**
 * RandomX in light mode: programs compiled to WebAssembly one by one. Blocks its thread, so it belongs in a worker.
 * Source: RandomX specification (github.com/tevador/RandomX, doc/specs.md).
 */
import { readFileSync } from "node:fs";
import { asciiBytes, concatBytes } from "../bytes.ts";
import { writeDatasetModule } from "./dataset-module.ts";
import * as at from "./memory.ts";
import { constantRegisters, writeProgramModule } from "./program-module.ts";
import { generateSuperscalar, type SuperscalarRandom } from "./superscalar.ts";

const PROGRAMS = 8;
const SUPERSCALAR_PROGRAMS = 8;
const MAX_KEY_BYTES = 60;
const ARGON_BLOCK_BYTES = 1024;

/** What `assembly/randomx.ts` exports for JavaScript. */
type Fixed = {
  init(): void;
  blake2b(out: number, outBytes: number, data: number, bytes: number): void;
  fillCache(): void;
  fillScratchpad(state: number, keys: number): void;
  generate(out: number, bytes: number, state: number, keys: number): void;
  fingerprintScratchpad(state: number, keys: number): void;
};

/** Everything that depends on a key; one hash at a time. About 258 MiB. */
export type RandomXCache = {
  readonly memory: WebAssembly.Memory;
  readonly bytes: Uint8Array;
  readonly fixed: Fixed;
  readonly fixedExports: Record<string, unknown>;
  /** Computes a dataset item. */
  readonly item: (number: bigint) => void;
};

let compiled: WebAssembly.Module | undefined;

type Machine = Pick<RandomXCache, "memory" | "bytes" | "fixed" | "fixedExports">;

function createMachine(): Machine {
  compiled ??= new WebAssembly.Module(readFileSync(new URL("../../wasm/randomx.wasm", import.meta.url)));
  const memory = new WebAssembly.Memory({ initial: at.PAGES });
  const { exports } = new WebAssembly.Instance(compiled, { env: { memory } });
  const fixed = exports as Fixed;
  fixed.init();
  return { memory, bytes: new Uint8Array(memory.buffer), fixed, fixedExports: exports };
}

/** BLAKE2b of data that fits the scratchpad, whose start it overwrites. */
function blake2b({ bytes, fixed }: Machine, outBytes: number, data: Uint8Array): Uint8Array {
  bytes.set(data, at.SCRATCHPAD);
  fixed.blake2b(at.SCRATCHPAD, outBytes, at.SCRATCHPAD, data.length);
  return bytes.slice(at.SCRATCHPAD, at.SCRATCHPAD + outBytes);
}

function wordBytes(...values: readonly number[]): Uint8Array {
  const view = new DataView(new ArrayBuffer(4 * values.length));
  values.forEach((value, i) => void view.setUint32(4 * i, value, true));
  return new Uint8Array(view.buffer);
}

/** Argon2's hash of variable length. Source: RFC 9106, section 3.3. */
function longHash(machine: Machine, outBytes: number, data: Uint8Array): Uint8Array {
  let block = blake2b(machine, 64, concatBytes(wordBytes(outBytes), data));
  const parts: Uint8Array[] = [];
  for (let left = outBytes; ; left -= 32) {
    if (left <= 64) return concatBytes(...parts, block);
    parts.push(block.subarray(0, 32));
    block = blake2b(machine, Math.min(64, left - 32), block);
  }
}

/** The cache from the key. Source: specification 7.1; RFC 9106, sections 3.2 and 3.4. */
function fillCache(machine: Machine, key: Uint8Array): void {
  const salt = asciiBytes("RandomX\x03");
  const [lanes, outBytes, kibibytes, passes, version, type] = [1, 0, 262144, 3, 0x13, 0];
  const head = wordBytes(lanes, outBytes, kibibytes, passes, version, type, key.length);
  const seed = blake2b(machine, 64, concatBytes(head, key, wordBytes(salt.length), salt, wordBytes(0, 0)));
  for (const index of [0, 1]) {
    const block = longHash(machine, ARGON_BLOCK_BYTES, concatBytes(seed, wordBytes(index, 0)));
    machine.bytes.set(block, at.CACHE + ARGON_BLOCK_BYTES * index);
  }
  machine.fixed.fillCache();
}

/** Random bytes from the key, 64 at a time. Source: specification 3.5. */
function createRandom(machine: Machine, key: Uint8Array): SuperscalarRandom {
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

/** Keys of the generators, made from names. Source: specification 3.2 to 3.4. */
function placeKeys(machine: Machine): void {
  const place = (where: number, bytes: number, name: string): void =>
    machine.bytes.set(blake2b(machine, bytes, asciiBytes(name)), where);
  place(at.KEYS_FILL, 64, "RandomX AesGenerator1R keys");
  place(at.KEYS_PROGRAM, 64, "RandomX AesGenerator4R keys 0-3");
  place(at.KEYS_PROGRAM + 64, 64, "RandomX AesGenerator4R keys 4-7");
  place(at.FINGERPRINT_STATE, 64, "RandomX AesHash1R state");
  place(at.KEYS_FINGERPRINT, 32, "RandomX AesHash1R xkeys");
}

/**
 * The cache of a key (0 to 60 bytes, else `RangeError`): takes about a second and 258 MiB.
 * Source: specification, chapter 7.
 */
export function createCache(key: Uint8Array): RandomXCache {
  if (key.length > MAX_KEY_BYTES)
    throw new RangeError(`a RandomX key has at most ${MAX_KEY_BYTES} bytes, not ${key.length}`);
  const machine = createMachine();
  placeKeys(machine);
  fillCache(machine, key);
  const random = createRandom(machine, key);
  const programs = Array.from({ length: SUPERSCALAR_PROGRAMS }, () => generateSuperscalar(random));
  const module = new WebAssembly.Module(writeDatasetModule(programs));
  const imports = { env: { memory: machine.memory }, fixed: machine.fixedExports };
  const item = new WebAssembly.Instance(module, imports).exports.item as RandomXCache["item"];
  return { ...machine, item };
}

/** One of the 64-byte items of the dataset. Source: specification 7.3. */
export function datasetItem(cache: RandomXCache, number: number): Uint8Array {
  cache.item(BigInt(number));
  return cache.bytes.slice(at.ITEM, at.ITEM + 64);
}

/** Draws a program with the generator's state and executes it. */
function runProgram({ memory, bytes, fixed, fixedExports, item }: RandomXCache): void {
  fixed.generate(at.PROGRAM, at.PROGRAM_BYTES, at.STATE, at.KEYS_PROGRAM);
  const program = bytes.subarray(at.PROGRAM, at.PROGRAM + at.PROGRAM_BYTES);
  bytes.set(constantRegisters(program), at.REGISTERS + 192);
  const module = new WebAssembly.Module(writeProgramModule(program));
  const imports = { env: { memory }, fixed: fixedExports, dataset: { item } };
  (new WebAssembly.Instance(module, imports).exports.run as () => void)();
}

/** RandomX of `blob` (at most 2 MiB, else `RangeError`): 32 bytes. Source: specification, chapter 2. */
export function randomxHash(cache: RandomXCache, blob: Uint8Array): Uint8Array {
  if (blob.length > at.SCRATCHPAD_BYTES)
    throw new RangeError(`${blob.length} bytes do not fit the scratchpad`);
  const { bytes, fixed } = cache;
  bytes.set(blake2b(cache, 64, blob), at.STATE);
  fixed.fillScratchpad(at.STATE, at.KEYS_FILL);
  bytes.fill(0, at.ROUNDING, at.ROUNDING + 4);
  for (let i = 0; i < PROGRAMS; i++) {
    runProgram(cache);
    if (i < PROGRAMS - 1) fixed.blake2b(at.STATE, 64, at.REGISTERS, 256);
  }
  bytes.copyWithin(at.REGISTERS + 192, at.FINGERPRINT_STATE, at.FINGERPRINT_STATE + 64);
  fixed.fingerprintScratchpad(at.REGISTERS + 192, at.KEYS_FINGERPRINT);
  fixed.blake2b(at.STATE, 32, at.REGISTERS, 256);
  return bytes.slice(at.STATE, at.STATE + 32);
}
