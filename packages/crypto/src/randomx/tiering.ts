/**
 * Which of V8's WebAssembly compilers works on what. By default each module starts with the baseline compiler and is
 * optimized in the background; for a program, which runs for 5 ms, that comes too late and doubles the work.
 */

import { setFlagsFromString } from "node:v8";
import type { WasmModule } from "../wasm-values.ts";

let isSplit = false;

/**
 * From now on the baseline compiler alone compiles modules, at once, but for the long-lived ones of RandomX, which the
 * optimizing compiler does. The setting holds for all threads of the process and cannot be taken back, so it is for a
 * process that does nothing but hash; call it in the thread that makes caches, before the first. Measured on Node 20:
 * 50 instead of 105 ms of CPU time per hash.
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
