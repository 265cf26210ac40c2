/**
 * Selects which of V8's WebAssembly compilers compiles which modules. By default each module starts with the baseline
 * compiler and is optimized in the background; for a program, which runs for 5 ms, that is too late and doubles the
 * work.
 */

import { setFlagsFromString } from "node:v8";
import type { WasmModule } from "../wasm-values.ts";

/**
 * Flags with which a process must be started to use split tiering. From V8 14 on the optimizing compiler inlines by what
 * the baseline compiler's code has counted, and ends the process where that code never ran; whether there are such counts
 * must be the same for all modules. Seen in V8 14.1 and 14.6 (Node 25 and 26), not in 13.6.
 */
export const splitTieringFlags: readonly string[] = needsCounts() ? ["--no-wasm-inlining"] : [];

function needsCounts(): boolean {
  const [major = 0] = process.versions.v8.split(".").map(Number);
  return major >= 14;
}

let isSplit = false;

/**
 * From now on only the baseline compiler compiles modules, at once, except for the long-lived ones of RandomX, which
 * the optimizing compiler compiles. The setting holds for all threads of the process and cannot be undone, so it is for
 * a process that only hashes; to be called in the thread that makes caches, before the first. Without effect in a process
 * that was not started with `splitTieringFlags`. Measured on Node 20: 50 instead of 105 ms of CPU time per hash.
 */
export function useSplitTiering(): void {
  if (!splitTieringFlags.every((flag) => process.execArgv.includes(flag))) return;
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
