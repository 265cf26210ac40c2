/** Where things lie in the memory of one cache; `assembly/randomx-memory.ts` holds the same numbers. */

const WORK = 0x8000;
/** Integer registers (64 bytes), additive, multiplicative and constant registers (64 each). */
export const REGISTERS = WORK;
/** The dataset item computed last, 64 bytes. */
export const ITEM = WORK + 0x100;
/** State of a generator or fingerprint, 64 bytes. */
export const STATE = WORK + 0x140;
/** The rounding mode, 4 bytes. */
export const ROUNDING = WORK + 0x180;
/** Keys of the generators (64 and 128 bytes), state and keys of the fingerprint (64 and 32). */
export const KEYS_FILL = WORK + 0x200;
export const KEYS_PROGRAM = WORK + 0x240;
export const FINGERPRINT_STATE = WORK + 0x2c0;
export const KEYS_FINGERPRINT = WORK + 0x300;
/** Configuration (128 bytes) and instructions (8 each) of the program. */
export const PROGRAM = WORK + 0x400;
export const CONFIGURATION_BYTES = 128;
export const PROGRAM_BYTES = CONFIGURATION_BYTES + 8 * 256;

export const SCRATCHPAD = 0x10000;
export const SCRATCHPAD_BYTES = 2 * 1024 * 1024;
export const CACHE = SCRATCHPAD + SCRATCHPAD_BYTES;
export const CACHE_BYTES = 256 * 1024 * 1024;
export const PAGES = (CACHE + CACHE_BYTES) / 0x10000;
