import type { Kernel, Pointer } from "./kernel.ts";

/** More than any block or scan batch needs; beyond it the caller has a bug or is hostile. */
const MAX_BYTES = 64 * 2 ** 20;

/** Placing inputs in the kernel's memory and reading results from it. */
export type Memory = {
  /** Forgets the last call; the kernel has one arena, and calls do not nest. */
  begin(): void;
  /** Copies the bytes in. Throws `RangeError` beyond 64 MiB. */
  put(bytes: Uint8Array): Pointer;
  /** Room for a result. Throws `RangeError` beyond 64 MiB. */
  room(bytes: number): Pointer;
  /** A copy of `length` bytes. */
  read(at: Pointer, length: number): Uint8Array;
};

export function createMemory(kernel: Kernel): Memory {
  let view = new Uint8Array(kernel.memory.buffer);
  /** The view is detached whenever the memory has grown. */
  const bytesOfMemory = (): Uint8Array => {
    if (view.buffer !== kernel.memory.buffer) view = new Uint8Array(kernel.memory.buffer);
    return view;
  };
  const room = (bytes: number): Pointer => {
    if (bytes > MAX_BYTES) throw new RangeError(`${bytes} bytes are too many for one call`);
    return kernel.alloc(bytes);
  };
  return {
    begin: () => kernel.arenaReset(),
    room,
    put(bytes) {
      const at = room(bytes.length);
      bytesOfMemory().set(bytes, at);
      return at;
    },
    read: (at, length) => bytesOfMemory().slice(at, at + length),
  };
}
