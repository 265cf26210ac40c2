// RandomX's generators and fingerprint from single AES rounds. Source: RandomX specification, chapters 3.2 to 3.4.

import { buildTables, column, double, encryptRound, storeRotations } from "./aes";
import { AES_TABLES, SCRATCHPAD_BYTES } from "./randomx-memory";

/** Look-ups of an encryption and of a decryption round: substitution, byte position and column mixing at once. */
const forward: usize = AES_TABLES;
const backward: usize = AES_TABLES + 4096;
const sbox: usize = AES_TABLES + 8192;

export function initAes(): void {
  buildTables(sbox, forward);
  for (let i: usize = 0; i < 256; ++i) {
    const x = u32(i), x2 = double(x), x4 = double(x2), x8 = double(x4), x9 = x8 ^ x;
    const inverse: u32 = (x8 ^ x4 ^ x2) | (x9 << 8) | ((x9 ^ x4) << 16) | ((x9 ^ x2) << 24);
    storeRotations(backward + 4 * usize(load<u8>(sbox + i)), inverse);
  }
}

// @ts-ignore: decorator
@inline function encrypt(to: usize, at: usize, key: usize): void { encryptRound(forward, to, at, key); }

/** One decryption round, like `encryptRound`. */
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

/**
 * Version 2's mixing of registers, 64 bytes each: every f goes through a round with each e as its key, encryption for
 * f0 and f2, decryption for f1 and f3. Source: RandomX specification 4.6.2, step 10.
 */
export function mixRegisters(f: usize, e: usize): void {
  for (let key: usize = e; key < e + 64; key += 16) {
    encrypt(f, f, key);
    decrypt(f + 16, f + 16, key);
    encrypt(f + 32, f + 32, key);
    decrypt(f + 48, f + 48, key);
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
