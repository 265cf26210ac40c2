// RandomX's generators and fingerprint from single AES rounds. Source: RandomX specification, chapters 3.2 to 3.4.

import { AES_TABLES, SCRATCHPAD_BYTES } from "./randomx-memory";

/** Look-ups of an encryption and of a decryption round: substitution, byte position and column mixing at once. */
const forward: usize = AES_TABLES;
const backward: usize = AES_TABLES + 4096;
const sbox: usize = AES_TABLES + 8192;

// @ts-ignore: decorator
@inline function double(x: u32): u32 { return ((x << 1) ^ ((x >> 7) * 0x11b)) & 0xff; }

/** Builds the S-box (inverse in GF(2^8) by walking powers of 3, then the affine map) and the tables. */
export function initAes(): void {
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
    const x = u32(i), x2 = double(x), x4 = double(x2), x8 = double(x4), x9 = x8 ^ x;
    const inverse: u32 = (x8 ^ x4 ^ x2) | (x9 << 8) | ((x9 ^ x4) << 16) | ((x9 ^ x2) << 24);
    for (let row: usize = 0; row < 4; ++row) {
      store<u32>(forward + 1024 * row + 4 * i, rotl<u32>(column, 8 * u32(row)));
      store<u32>(backward + 1024 * row + 4 * s, rotl<u32>(inverse, 8 * u32(row)));
    }
  }
}

// @ts-ignore: decorator
@inline function column(table: usize, a: u32, b: u32, c: u32, d: u32): u32 {
  return load<u32>(table + ((a & 0xff) << 2)) ^ load<u32>(table + ((b >> 6) & 0x3fc), 1024)
    ^ load<u32>(table + ((c >> 14) & 0x3fc), 2048) ^ load<u32>(table + ((d >> 22) & 0x3fc), 3072);
}

/** One encryption round of the block at `at` into `to` (which may be `at`), with the key at `key`. */
// @ts-ignore: decorator
@inline function encrypt(to: usize, at: usize, key: usize): void {
  const a = load<u32>(at), b = load<u32>(at, 4), c = load<u32>(at, 8), d = load<u32>(at, 12);
  store<u32>(to, column(forward, a, b, c, d) ^ load<u32>(key));
  store<u32>(to, column(forward, b, c, d, a) ^ load<u32>(key, 4), 4);
  store<u32>(to, column(forward, c, d, a, b) ^ load<u32>(key, 8), 8);
  store<u32>(to, column(forward, d, a, b, c) ^ load<u32>(key, 12), 12);
}

/** One decryption round, like `encrypt`. */
// @ts-ignore: decorator
@inline function decrypt(to: usize, at: usize, key: usize): void {
  const a = load<u32>(at), b = load<u32>(at, 4), c = load<u32>(at, 8), d = load<u32>(at, 12);
  store<u32>(to, column(backward, a, d, c, b) ^ load<u32>(key));
  store<u32>(to, column(backward, b, a, d, c) ^ load<u32>(key, 4), 4);
  store<u32>(to, column(backward, c, b, a, d) ^ load<u32>(key, 8), 8);
  store<u32>(to, column(backward, d, c, b, a) ^ load<u32>(key, 12), 12);
}

/** AesGenerator1R with its four keys at `keys`: a scratchpad from the 64-byte state, which moves on. */
export function fillScratchpad(scratchpad: usize, state: usize, keys: usize): void {
  for (let at = scratchpad; at < scratchpad + SCRATCHPAD_BYTES; at += 64) {
    decrypt(state, state, keys);
    encrypt(state + 16, state + 16, keys + 16);
    decrypt(state + 32, state + 32, keys + 32);
    encrypt(state + 48, state + 48, keys + 48);
    memory.copy(at, state, 64);
  }
}

/** AesGenerator4R with its eight keys at `keys`: `bytes` (a multiple of 64) from the 64-byte state, which moves on. */
export function generate(out: usize, bytes: usize, state: usize, keys: usize): void {
  for (let at: usize = out; at < out + bytes; at += 64) {
    for (let key: usize = keys; key < keys + 64; key += 16) {
      decrypt(state, state, key);
      encrypt(state + 16, state + 16, key);
      decrypt(state + 32, state + 32, key + 64);
      encrypt(state + 48, state + 48, key + 64);
    }
    memory.copy(at, state, 64);
  }
}

/** AesHash1R of a scratchpad: `state` holds the initial state and becomes the result; two more keys at `keys`. */
export function fingerprintScratchpad(scratchpad: usize, state: usize, keys: usize): void {
  for (let at = scratchpad; at < scratchpad + SCRATCHPAD_BYTES; at += 64) {
    encrypt(state, state, at);
    decrypt(state + 16, state + 16, at + 16);
    encrypt(state + 32, state + 32, at + 32);
    decrypt(state + 48, state + 48, at + 48);
  }
  for (let key: usize = keys; key < keys + 32; key += 16) {
    encrypt(state, state, key);
    decrypt(state + 16, state + 16, key);
    encrypt(state + 32, state + 32, key);
    decrypt(state + 48, state + 48, key);
  }
}
