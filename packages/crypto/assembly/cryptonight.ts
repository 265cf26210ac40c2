// CryptoNight's memory-hard part (variant 0): fill a 2 MiB scratchpad, walk it, fold it back.
// Source: CNS008 (CryptoNight hash function), FIPS 197 for the AES round.
// The caller does keccak before and after; the 200-byte keccak state crosses at STATE.

const SCRATCHPAD_BYTES: u32 = 2 * 1024 * 1024;
const ITERATIONS: i32 = 1 << 19;
/** Scratchpad addresses are 16-byte aligned offsets below 2 MiB. */
const ADDRESS_MASK: u32 = SCRATCHPAD_BYTES - 16;
const BLOCKS: usize = 8; // the scratchpad is filled 8 AES blocks (128 bytes) at a time

const state: usize = memory.data(200, 16);
const keys: usize = memory.data(160, 16); // ten AES round keys
const text: usize = memory.data(128, 16);
const sbox: usize = memory.data(256, 16);
/** Four tables of 256 words: SubBytes, ShiftRows' byte position and MixColumns in one look-up. */
const mix: usize = memory.data(4096, 16);
let scratchpad: usize = 0;

export function stateAddress(): usize {
  return state;
}

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
@inline function column(a: u32, b: u32, c: u32, d: u32): u32 {
  return load<u32>(mix + ((a & 0xff) << 2)) ^ load<u32>(mix + ((b >> 6) & 0x3fc), 1024)
    ^ load<u32>(mix + ((c >> 14) & 0x3fc), 2048) ^ load<u32>(mix + ((d >> 22) & 0x3fc), 3072);
}

/** One AES round on the block at `at`, in place, with the round key at `key`. */
// @ts-ignore: decorator
@inline function round(at: usize, key: usize): void {
  const a = load<u32>(at), b = load<u32>(at, 4), c = load<u32>(at, 8), d = load<u32>(at, 12);
  store<u32>(at, column(a, b, c, d) ^ load<u32>(key));
  store<u32>(at, column(b, c, d, a) ^ load<u32>(key, 4), 4);
  store<u32>(at, column(c, d, a, b) ^ load<u32>(key, 8), 8);
  store<u32>(at, column(d, a, b, c) ^ load<u32>(key, 12), 12);
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

/** High 64 bits of a·b. */
// @ts-ignore: decorator
@inline function mulHigh(a: u64, b: u64): u64 {
  const a0 = a & 0xffffffff, a1 = a >> 32, b0 = b & 0xffffffff, b1 = b >> 32;
  const low = a0 * b1 + ((a0 * b0) >> 32);
  return a1 * b1 + (low >> 32) + ((a1 * b0 + (low & 0xffffffff)) >> 32);
}

function walk(): void {
  let a0 = load<u64>(state) ^ load<u64>(state, 32), a1 = load<u64>(state, 8) ^ load<u64>(state, 40);
  let b0 = load<u64>(state, 16) ^ load<u64>(state, 48), b1 = load<u64>(state, 24) ^ load<u64>(state, 56);
  for (let i = 0; i < ITERATIONS; ++i) {
    const at = scratchpad + (u32(a0) & ADDRESS_MASK);
    const w = load<u32>(at), x = load<u32>(at, 4), y = load<u32>(at, 8), z = load<u32>(at, 12);
    const c0 = (u64(column(w, x, y, z)) | (u64(column(x, y, z, w)) << 32)) ^ a0;
    const c1 = (u64(column(y, z, w, x)) | (u64(column(z, w, x, y)) << 32)) ^ a1;
    store<u64>(at, b0 ^ c0);
    store<u64>(at, b1 ^ c1, 8);
    const next = scratchpad + (u32(c0) & ADDRESS_MASK);
    const d0 = load<u64>(next), d1 = load<u64>(next, 8);
    a0 += mulHigh(c0, d0);
    a1 += c0 * d0;
    store<u64>(next, a0);
    store<u64>(next, a1, 8);
    a0 ^= d0; a1 ^= d1;
    b0 = c0; b1 = c1;
  }
}

/** Transforms the keccak state in place, between the two keccak permutations. */
export function hashState(): void {
  fill();
  walk();
  fold();
}

/** Forgets everything that depended on the last input. */
export function wipe(): void {
  memory.fill(scratchpad, 0, SCRATCHPAD_BYTES);
  memory.fill(state, 0, 200);
  memory.fill(keys, 0, 160);
  memory.fill(text, 0, 128);
}
