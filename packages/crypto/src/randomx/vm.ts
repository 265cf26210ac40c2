/** A RandomX virtual machine: programs compiled to WebAssembly one by one. Source: RandomX specification, chapter 2. */
import { itemFunctions, type RandomXCache } from "./cache.ts";
import { blake2b, createMachine, type Machine } from "./fixed.ts";
import * as at from "./memory.ts";
import { constantRegisters, writeProgramModule } from "./program-module.ts";

const PROGRAMS = 8;

/** One thread's place to hash in; 2 MiB of the cache's memory, kept from hash to hash. */
export type RandomXVm = {
  /** RandomX of `blob` (at most 2 MiB, else `RangeError`): 32 bytes. Blocks the thread for about 0.1 s. */
  hash(blob: Uint8Array): Uint8Array;
  /** Gives the place back; the machine must not be used afterwards. */
  close(): void;
};

/** Executes a drawn program. */
type Run = (program: Uint8Array) => void;

function createRun(machine: Machine, cache: RandomXCache): Run {
  const imports = {
    env: { memory: machine.memory },
    fixed: machine.exports,
    dataset: { pair: itemFunctions(cache).pair },
  };
  return (program) => {
    const module = new WebAssembly.Module(writeProgramModule(program, machine.slot));
    (new WebAssembly.Instance(module, imports).exports.run as () => void)();
  };
}

function hash(machine: Machine, run: Run, blob: Uint8Array): Uint8Array {
  const { bytes, fixed, slot } = machine;
  const { scratchpad, registers, state, work, program } = slot;
  bytes.set(blake2b(machine, 64, blob), state);
  fixed.fillScratchpad(scratchpad, state, at.KEYS_FILL);
  bytes.fill(0, slot.rounding, slot.rounding + 4);
  const drawn = bytes.subarray(program, program + at.PROGRAM_BYTES);
  for (let i = 0; i < PROGRAMS; i++) {
    fixed.generate(program, at.PROGRAM_BYTES, state, at.KEYS_PROGRAM);
    bytes.set(constantRegisters(drawn), registers + 192);
    run(drawn);
    if (i < PROGRAMS - 1) fixed.blake2b(state, 64, registers, 256, work);
  }
  bytes.copyWithin(registers + 192, at.FINGERPRINT_STATE, at.FINGERPRINT_STATE + 64);
  fixed.fingerprintScratchpad(scratchpad, registers + 192, at.KEYS_FINGERPRINT);
  fixed.blake2b(state, 32, registers, 256, work);
  return bytes.slice(state, state + 32);
}

/** A machine over a cache, which any thread of the process may have made; at most 128 over one cache. */
export function createRandomXVm(cache: RandomXCache): RandomXVm {
  const machine = createMachine(cache);
  const run = createRun(machine, cache);
  return {
    hash(blob) {
      if (blob.length > at.SCRATCHPAD_BYTES)
        throw new RangeError(`${blob.length} bytes do not fit the scratchpad`);
      return hash(machine, run, blob);
    },
    close: machine.release,
  };
}

const machines = new WeakMap<RandomXCache, RandomXVm>();

/** RandomX of `blob` on this thread's machine for the cache, made at first use. See `RandomXVm.hash`. */
export function randomxHash(cache: RandomXCache, blob: Uint8Array): Uint8Array {
  let vm = machines.get(cache);
  if (!vm) {
    vm = createRandomXVm(cache);
    machines.set(cache, vm);
  }
  return vm.hash(blob);
}
