/**
 * Selects which of V8's WebAssembly compilers compiles which modules. By default each module starts with the baseline
 * compiler and is optimized in the background; for a program, which runs for 5 ms, that is too late and doubles the
 * work.
 */

import { setFlagsFromString } from "node:v8";
import type { WasmModule } from "../wasm-values.ts";

let isSplit = false;

/**
 * From now on only the baseline compiler compiles modules, at once, except for the long-lived ones of RandomX, which
 * the optimizing compiler compiles. The setting holds for all threads of the process and cannot be undone, so it is for
 * a process that only hashes; to be called in the thread that makes caches, before the first. Measured on Node 20: 50
 * instead of 105 ms of CPU time per hash.
 */
export function useSplitTiering(): void {
  isSplit = true;
  setFlagsFromString("--no-wasm-tier-up");
  setFlagsFromString("--no-wasm-dynamic-tiering");
  setFlagsFromString("--no-wasm-lazy-compilation");
}

/** Compiles a module that will run for long. */
export function compileLongLived(bytes: Uint8Array): WasmModule {
  if (!isSplit) return new WebAssembly.Module(bytes);
  setFlagsFromString("--no-liftoff");
  try {
    return new WebAssembly.Module(bytes);
  } finally {
    setFlagsFromString("--liftoff");
  }
}
