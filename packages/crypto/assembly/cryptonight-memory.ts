// What the CryptoNight files share: the scratchpad, the keccak state and the AES tables.

export const SCRATCHPAD_BYTES: u32 = 2 * 1024 * 1024;
/** The keccak state, 200 bytes. */
export const state: usize = memory.data(200, 16);
export const sbox: usize = memory.data(256, 16);
/** Four tables of 256 words: SubBytes, ShiftRows' byte position and MixColumns in one look-up. */
const mix: usize = memory.data(4096, 16);
export let scratchpad: usize = 0;

// @ts-ignore: decorator
@inline function double(x: u32): u32 { return ((x << 1) ^ ((x >> 7) * 0x11b)) & 0xff; }

/** Builds the S-box (inverse in GF(2^8) by walking powers of 3, then the affine map) and the tables. */
export function init(): void {
  let p: u32 = 1, q: u32 = 1;
  do {
    p = p ^ double(p); // p runs through the powers of 3, q through those of 1/3
    q ^= q << 1; q ^= q << 2; q ^= q << 4; q &= 0xff;
    if (q & 0x80) q ^= 0x09;
    const r = q | (q << 8);
    store<u8>(sbox + p, u8(q ^ (r >> 7) ^ (r >> 6) ^ (r >> 5) ^ (r >> 4) ^ 0x63));
  } while (p != 1);
  store<u8>(sbox, 0x63);
  for (let i: usize = 0; i < 256; ++i) {
    const s: u32 = load<u8>(sbox + i), s2 = double(s);
    const column: u32 = s2 | (s << 8) | (s << 16) | ((s2 ^ s) << 24);
    for (let row: usize = 0; row < 4; ++row) store<u32>(mix + 1024 * row + 4 * i, rotl<u32>(column, 8 * u32(row)));
  }
  scratchpad = memory.grow(i32(SCRATCHPAD_BYTES >>> 16)) << 16;
}

// @ts-ignore: decorator
@inline export function column(a: u32, b: u32, c: u32, d: u32): u32 {
  return load<u32>(mix + ((a & 0xff) << 2)) ^ load<u32>(mix + ((b >> 6) & 0x3fc), 1024)
    ^ load<u32>(mix + ((c >> 14) & 0x3fc), 2048) ^ load<u32>(mix + ((d >> 22) & 0x3fc), 3072);
}

/** High 64 bits of a·b. */
// @ts-ignore: decorator
@inline export function mulHigh(a: u64, b: u64): u64 {
  const a0 = a & 0xffffffff, a1 = a >> 32, b0 = b & 0xffffffff, b1 = b >> 32;
  const low = a0 * b1 + ((a0 * b0) >> 32);
  return a1 * b1 + (low >> 32) + ((a1 * b0 + (low & 0xffffffff)) >> 32);
}
