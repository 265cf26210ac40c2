// CryptoNight's memory-hard part: fill a 2 MiB scratchpad, walk it, fold it back.
// Source: CNS008 (CryptoNight hash function), FIPS 197 for the AES round.
// The caller does keccak before and after; the 200-byte keccak state crosses at STATE.

import { init as initTables, round, sbox, SCRATCHPAD_BYTES, scratchpad, state } from "./cryptonight-memory";
import { walk0, walk1, walk2, walk4 } from "./cryptonight-walk";

const BLOCKS: usize = 8; // the scratchpad is filled 8 AES blocks (128 bytes) at a time

const keys: usize = memory.data(160, 16); // ten AES round keys
const text: usize = memory.data(128, 16);

export { registersAddress } from "./cryptonight-walk";

export function stateAddress(): usize {
  return state;
}

export function init(): void {
  initTables();
}

// @ts-ignore: decorator
@inline function substitute(word: u32): u32 {
  return u32(load<u8>(sbox + (word & 0xff))) | (u32(load<u8>(sbox + ((word >> 8) & 0xff))) << 8)
    | (u32(load<u8>(sbox + ((word >> 16) & 0xff))) << 16) | (u32(load<u8>(sbox + (word >> 24))) << 24);
}

/** The first ten round keys of the AES-256 key schedule for the 32 bytes at `key`. */
function expandKey(key: usize): void {
  memory.copy(keys, key, 32);
  let constant: u32 = 1;
  for (let word: usize = 8; word < 40; ++word) {
    let t = load<u32>(keys + 4 * word - 4);
    if (word % 8 == 0) { t = substitute(rotr<u32>(t, 8)) ^ constant; constant <<= 1; }
    else if (word % 8 == 4) t = substitute(t);
    store<u32>(keys + 4 * word, load<u32>(keys + 4 * word - 32) ^ t);
  }
}

function tenRounds(): void {
  for (let block: usize = 0; block < BLOCKS; ++block) {
    for (let k: usize = 0; k < 160; k += 16) round(text + 16 * block, keys + k);
  }
}

function fill(): void {
  expandKey(state);
  memory.copy(text, state + 64, 128);
  for (let at: usize = 0; at < SCRATCHPAD_BYTES; at += 128) {
    tenRounds();
    memory.copy(scratchpad + at, text, 128);
  }
}

function fold(): void {
  expandKey(state + 32);
  memory.copy(text, state + 64, 128);
  for (let at: usize = 0; at < SCRATCHPAD_BYTES; at += 128) {
    for (let i: usize = 0; i < 128; i += 16) v128.store(text + i, v128.xor(v128.load(text + i), v128.load(scratchpad + at + i)));
    tenRounds();
  }
  memory.copy(state + 64, text, 128);
}

/** Transforms the keccak state in place, between the two keccak permutations; `tweak` is variant 1's alone. */
export function hashState(variant: i32, tweak: u64): void {
  fill();
  if (variant == 0) walk0();
  else if (variant == 1) walk1(tweak);
  else if (variant == 2) walk2();
  else walk4();
  fold();
}

/** Forgets everything that depended on the last input. */
export function wipe(): void {
  memory.fill(scratchpad, 0, SCRATCHPAD_BYTES);
  memory.fill(state, 0, 200);
  memory.fill(keys, 0, 160);
  memory.fill(text, 0, 128);
}
