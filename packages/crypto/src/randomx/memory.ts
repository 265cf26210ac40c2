/**
 * The shared memory of a cache or dataset: constants, a slot for each virtual machine, then the data. The slots come
 * first because compiled programs address their scratchpad by constants, which below 2^31 cost nothing.
 */
import type { WasmMemory } from "../wasm-values.ts";
import { adviseLargePages } from "./system-memory.ts";

/** Which slots are in use, 4 bytes each. */
const TAKEN = 0x8000;
/** Keys of the generators (64 and 128 bytes), state and keys of the fingerprint (64 and 32). */
export const KEYS_FILL = 0x9000;
export const KEYS_PROGRAM = 0x9040;
export const FINGERPRINT_STATE = 0x90c0;
export const KEYS_FINGERPRINT = 0x9100;

const PAGE_BYTES = 0x10000;
const SLOTS = PAGE_BYTES;
/** Virtual machines that can use one memory; an unused slot costs address space, no memory. */
const MAX_SLOTS = 128;
export const SCRATCHPAD_BYTES = 2 * 1024 * 1024;
const SLOT_BYTES = SCRATCHPAD_BYTES + PAGE_BYTES;
export const DATA = SLOTS + MAX_SLOTS * SLOT_BYTES;

export const CACHE_BYTES = 256 * 1024 * 1024;
/** Items have 64 bytes. Source: RandomX specification 7 and configuration RANDOMX_DATASET_BASE_SIZE, _EXTRA_SIZE. */
export const DATASET_BYTES = 2147483648 + 33554368;
export const DATASET_ITEMS = DATASET_BYTES / 64;

/** Where the parts of one virtual machine lie. */
export type Slot = {
  readonly scratchpad: number;
  /** Integer registers (64 bytes), additive, multiplicative and constant registers (64 each). */
  readonly registers: number;
  /** Two dataset items, 64 bytes each. */
  readonly items: number;
  /** State of a generator or fingerprint, 64 bytes. */
  readonly state: number;
  /** The rounding mode, 4 bytes. */
  readonly rounding: number;
  /** Configuration and instructions of a program, up to 4 KiB. */
  readonly program: number;
  /** For BLAKE2b and Argon2d, 1 KiB. */
  readonly work: number;
};

function slotAt(scratchpad: number): Slot {
  const registers = scratchpad + SCRATCHPAD_BYTES;
  const [items, state, rounding] = [registers + 0x100, registers + 0x180, registers + 0x1c0];
  return {
    scratchpad,
    registers,
    items,
    state,
    rounding,
    program: registers + 0x400,
    work: registers + 0x1400,
  };
}

/** A memory of that many bytes of data. Throws `RangeError` when the system refuses it. */
export function createSharedMemory(dataBytes: number): WasmMemory {
  const pages = Math.ceil((DATA + dataBytes) / PAGE_BYTES);
  const memory = new WebAssembly.Memory({ initial: pages, maximum: pages, shared: true });
  adviseLargePages(memory);
  return memory;
}

const takenSlots = (memory: WasmMemory): Int32Array => new Int32Array(memory.buffer, TAKEN, MAX_SLOTS);

/** Reserves a free slot, for any thread; `release` frees it, once. Throws when all are in use. */
export function takeSlot(memory: WasmMemory): { slot: Slot; release: () => void } {
  const slots = takenSlots(memory);
  const index = slots.findIndex((_, i) => Atomics.compareExchange(slots, i, 0, 1) === 0);
  if (index < 0) throw new Error(`${MAX_SLOTS} RandomX machines use this memory already`);
  let isTaken = true;
  const release = (): void => {
    if (isTaken) Atomics.store(slots, index, 0);
    isTaken = false;
  };
  return { slot: slotAt(SLOTS + index * SLOT_BYTES), release };
}
