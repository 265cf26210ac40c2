/** The parts of RandomX that no key or program changes, from `assembly/randomx.ts`. */

import { readFileSync } from "node:fs";
import { asciiBytes } from "../bytes.ts";
import type { WasmMemory, WasmModule } from "../wasm-values.ts";
import * as at from "./memory.ts";
import { compileLongLived } from "./tiering.ts";

/** What the module exports for JavaScript; all parameters but sizes are addresses. */
type FixedFunctions = {
  init(): void;
  blake2b(out: number, outBytes: number, data: number, bytes: number, work: number): void;
  fillCache(cache: number, work: number): void;
  fillScratchpad(scratchpad: number, state: number, keys: number): void;
  generate(out: number, bytes: number, state: number, keys: number): void;
  fingerprintScratchpad(scratchpad: number, state: number, keys: number): void;
};

/** What threads share, so that each need not compile it. */
export type SharedParts = { readonly memory: WasmMemory; readonly fixedPart: WasmModule };

/** A thread's view of a shared memory, with a slot of its own. */
export type Machine = {
  readonly memory: WasmMemory;
  readonly bytes: Uint8Array;
  readonly slot: at.Slot;
  readonly fixed: FixedFunctions;
  /** The same functions, and those that only compiled programs call. */
  readonly exports: Record<string, unknown>;
  release(): void;
};

let compiled: WasmModule | undefined;

/** The module itself, compiled once a thread. */
export function fixedModule(): WasmModule {
  compiled ??= compileLongLived(readFileSync(new URL("../../wasm/randomx.wasm", import.meta.url)));
  return compiled;
}

/** Takes a slot of the memory. */
export function createMachine({ memory, fixedPart }: SharedParts): Machine {
  const { exports } = new WebAssembly.Instance(fixedPart, { env: { memory } });
  const fixed = exports as FixedFunctions;
  return { memory, bytes: new Uint8Array(memory.buffer), fixed, exports, ...at.takeSlot(memory) };
}

/** BLAKE2b of data that fits the scratchpad, whose start it overwrites. */
export function blake2b({ bytes, fixed, slot }: Machine, outBytes: number, data: Uint8Array): Uint8Array {
  const { scratchpad, work } = slot;
  bytes.set(data, scratchpad);
  fixed.blake2b(scratchpad, outBytes, scratchpad, data.length, work);
  return bytes.slice(scratchpad, scratchpad + outBytes);
}

/** Writes the tables and the generators' keys, which are made from names. Source: specification 3.2 to 3.4. */
export function placeConstants(machine: Machine): void {
  machine.fixed.init();
  const place = (where: number, bytes: number, name: string): void =>
    machine.bytes.set(blake2b(machine, bytes, asciiBytes(name)), where);
  place(at.KEYS_FILL, 64, "RandomX AesGenerator1R keys");
  place(at.KEYS_PROGRAM, 64, "RandomX AesGenerator4R keys 0-3");
  place(at.KEYS_PROGRAM + 64, 64, "RandomX AesGenerator4R keys 4-7");
  place(at.FINGERPRINT_STATE, 64, "RandomX AesHash1R state");
  place(at.KEYS_FINGERPRINT, 32, "RandomX AesHash1R xkeys");
}
