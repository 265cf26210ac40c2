/**
 * What of WebAssembly is handed on, by names of ours: TypeScript declares its own only together with the DOM, which
 * programs that use this package need not have.
 */
export interface WasmMemory {
  readonly buffer: ArrayBuffer;
}

/** A compiled module. */
export type WasmModule = object;
