// Where things lie in the memory of one RandomX cache; src/randomx/memory.ts holds the same numbers.
// Below WORK are the tables of the fixed functions.

export const WORK: usize = 0x8000;
export const SCRATCHPAD: usize = 0x10000;
export const SCRATCHPAD_BYTES: usize = 2 * 1024 * 1024;
export const CACHE: usize = SCRATCHPAD + SCRATCHPAD_BYTES;
/** Argon2 blocks of 1 KiB in the cache. */
export const CACHE_BLOCKS: u32 = 262144;
