// AES rounds by table look-ups, for CryptoNight and RandomX. Source: FIPS 197; Daemen and Rijmen, AES Proposal, 5.2.1.

// @ts-ignore: decorator
@inline export function double(x: u32): u32 { return ((x << 1) ^ ((x >> 7) * 0x11b)) & 0xff; }

/**
 * Builds the S-box (256 bytes; inverse in GF(2^8) by walking powers of 3, then the affine map) and the four tables of
 * 256 words of an encryption round: SubBytes, ShiftRows' byte position and MixColumns in one look-up.
 */
export function buildTables(sbox: usize, forward: usize): void {
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
    storeRotations(forward + 4 * i, s2 | (s << 8) | (s << 16) | ((s2 ^ s) << 24));
  }
}

/** The column of one byte, in the table of each row. */
export function storeRotations(at: usize, column: u32): void {
  for (let row: usize = 0; row < 4; ++row) store<u32>(at + 1024 * row, rotl<u32>(column, 8 * u32(row)));
}

/** One column of a round: look-ups of a byte of each word. */
// @ts-ignore: decorator
@inline export function column(table: usize, a: u32, b: u32, c: u32, d: u32): u32 {
  return load<u32>(table + ((a & 0xff) << 2)) ^ load<u32>(table + ((b >> 6) & 0x3fc), 1024)
    ^ load<u32>(table + ((c >> 14) & 0x3fc), 2048) ^ load<u32>(table + ((d >> 22) & 0x3fc), 3072);
}

/** One encryption round of the block at `at` into `to` (which may be `at`), with the key at `key`. */
// @ts-ignore: decorator
@inline export function encryptRound(table: usize, to: usize, at: usize, key: usize): void {
  const a = load<u32>(at), b = load<u32>(at, 4), c = load<u32>(at, 8), d = load<u32>(at, 12);
  store<u32>(to, column(table, a, b, c, d) ^ load<u32>(key));
  store<u32>(to, column(table, b, c, d, a) ^ load<u32>(key, 4), 4);
  store<u32>(to, column(table, c, d, a, b) ^ load<u32>(key, 8), 8);
  store<u32>(to, column(table, d, a, b, c) ^ load<u32>(key, 12), 12);
}
