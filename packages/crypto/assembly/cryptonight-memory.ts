// What the CryptoNight files share: the scratchpad, the keccak state and the AES tables.

import { buildTables, column as tableColumn, encryptRound } from "./aes";

export const SCRATCHPAD_BYTES: u32 = 2 * 1024 * 1024;
/** The keccak state, 200 bytes. */
export const state: usize = memory.data(200, 16);
export const sbox: usize = memory.data(256, 16);
/** The tables of an AES round. */
const mix: usize = memory.data(4096, 16);
export let scratchpad: usize = 0;

export function init(): void {
  buildTables(sbox, mix);
  scratchpad = memory.grow(i32(SCRATCHPAD_BYTES >>> 16)) << 16;
}

// @ts-ignore: decorator
@inline export function column(a: u32, b: u32, c: u32, d: u32): u32 { return tableColumn(mix, a, b, c, d); }
/** One AES round on the block at `at`, in place, with the round key at `key`. */
// @ts-ignore: decorator
@inline export function round(at: usize, key: usize): void { encryptRound(mix, at, at, key); }
