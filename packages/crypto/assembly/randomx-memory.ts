// The shape of a RandomX memory; src/randomx/memory.ts describes all of it.

// Every thread that instantiates the module writes its data segments again, so `memory.data` is for constants alone:
// what is computed has its fixed place.

/** Tables of AES, 8448 bytes. */
export const AES_TABLES: usize = 0x4000;
export const SCRATCHPAD_BYTES: usize = 2 * 1024 * 1024;
/** Argon2 blocks of 1 KiB in a cache. */
export const CACHE_BLOCKS: u32 = 262144;
