/** A RandomX virtual machine: programs compiled to WebAssembly one by one. Source: RandomX specification, chapter 2. */
import { type ItemFunctions, itemFunctions, type RandomXCache } from "./cache.ts";
import type { RandomXDataset } from "./dataset.ts";
import { blake2b, createMachine, type Machine, type SharedParts } from "./fixed.ts";
import * as at from "./memory.ts";
import { constantRegisters, writeProgramModule } from "./program-module.ts";
import { programBytes, type RandomXVersion, VERSIONS, type VersionParameters } from "./versions.ts";

const PROGRAMS = 8;
const ITERATIONS = 2048;

/** One thread's place to hash in; 2 MiB of the cache's memory, kept from hash to hash. */
export type RandomXVm = {
  /**
   * RandomX of `blob` (at most 2 MiB, else `RangeError`), by default of version 1: 32 bytes. Blocks the thread for 50
   * ms, in full mode 30.
   */
  hash(blob: Uint8Array, version?: RandomXVersion): Uint8Array;
  /** Gives the place back; hashing afterwards throws. */
  close(): void;
};

/** Executes a drawn program. */
type Run = (program: Uint8Array, parameters: VersionParameters) => void;

function createRun(machine: Machine, pair: ItemFunctions["pair"] | undefined): Run {
  const imports = {
    env: { memory: machine.memory },
    fixed: machine.exports,
    ...(pair && { dataset: { pair } }),
  };
  const { bytes, slot } = machine;
  return (program, parameters) => {
    const rounding = bytes[slot.rounding]!;
    const options = { parameters, slot, rounding, isFull: !pair, iterations: ITERATIONS };
    const module = new WebAssembly.Module(writeProgramModule(program, options));
    (new WebAssembly.Instance(module, imports).exports.run as () => void)();
  };
}

function hash(machine: Machine, run: Run, blob: Uint8Array, parameters: VersionParameters): Uint8Array {
  const { bytes, fixed, slot } = machine;
  const { scratchpad, registers, state, work, program } = slot;
  bytes.set(blake2b(machine, 64, blob), state);
  fixed.fillScratchpad(scratchpad, state, at.KEYS_FILL);
  bytes.fill(0, slot.rounding, slot.rounding + 4);
  const drawn = bytes.subarray(program, program + programBytes(parameters));
  for (let i = 0; i < PROGRAMS; i++) {
    fixed.generate(program, drawn.length, state, at.KEYS_PROGRAM);
    bytes.set(constantRegisters(drawn), registers + 192);
    run(drawn, parameters);
    if (i < PROGRAMS - 1) fixed.blake2b(state, 64, registers, 256, work);
  }
  bytes.copyWithin(registers + 192, at.FINGERPRINT_STATE, at.FINGERPRINT_STATE + 64);
  fixed.fingerprintScratchpad(scratchpad, registers + 192, at.KEYS_FINGERPRINT);
  fixed.blake2b(state, 32, registers, 256, work);
  return bytes.slice(state, state + 32);
}

/** A machine that gets dataset items from `pair` or, without it, from its memory. */
export function createVm(parts: SharedParts, pair?: ItemFunctions["pair"]): RandomXVm {
  const machine = createMachine(parts);
  const run = createRun(machine, pair);
  let isClosed = false;
  return {
    hash(blob, version = 1) {
      if (isClosed) throw new Error("this RandomX machine is closed");
      if (blob.length > at.SCRATCHPAD_BYTES)
        throw new RangeError(`${blob.length} bytes do not fit the scratchpad`);
      return hash(machine, run, blob, VERSIONS[version]);
    },
    close() {
      isClosed = true;
      machine.release();
    },
  };
}

/** A machine over a cache or dataset, which any thread of the process may have made; at most 128 over one. */
export function createRandomXVm(source: RandomXCache | RandomXDataset): RandomXVm {
  return createVm(source, "items" in source ? itemFunctions(source).pair : undefined);
}

const machines = new WeakMap<RandomXCache, RandomXVm>();

/** RandomX of `blob` on this thread's machine for the cache, made at first use. See `RandomXVm.hash`. */
export function randomxHash(cache: RandomXCache, blob: Uint8Array, version?: RandomXVersion): Uint8Array {
  let vm = machines.get(cache);
  if (!vm) {
    vm = createRandomXVm(cache);
    machines.set(cache, vm);
  }
  return vm.hash(blob, version);
}
