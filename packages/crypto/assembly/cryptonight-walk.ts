// The walk through the scratchpad, where CryptoNight's variants differ.
// Source: CNS008; monero slow-hash.c (VARIANT1_*, VARIANT2_*, VARIANT4_*) and variant2_int_sqrt.h.

import { column, SCRATCHPAD_BYTES, scratchpad, state } from "./cryptonight-memory";
import { mulHigh } from "./high-product";

const ITERATIONS: i32 = 1 << 19;
/** Scratchpad addresses are 16-byte aligned offsets below 2 MiB. */
const ADDRESS_MASK: u32 = SCRATCHPAD_BYTES - 16;

/** Variant 4's registers r0 … r8, 32 bits each: where the program of a height reads and writes. */
const registers: usize = memory.data(36, 16);

/** Runs the height's random program on the registers. */
// @ts-ignore: decorator
@external("program", "run")
declare function runProgram(): void;

export function registersAddress(): usize {
  return registers;
}

export function walk0(): void {
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

/** Variant 1 flips two bits of the first block stored and mixes a tweak of nonce and state into the second. */
export function walk1(tweak: u64): void {
  let a0 = load<u64>(state) ^ load<u64>(state, 32), a1 = load<u64>(state, 8) ^ load<u64>(state, 40);
  let b0 = load<u64>(state, 16) ^ load<u64>(state, 48), b1 = load<u64>(state, 24) ^ load<u64>(state, 56);
  for (let i = 0; i < ITERATIONS; ++i) {
    const at = scratchpad + (u32(a0) & ADDRESS_MASK);
    const w = load<u32>(at), x = load<u32>(at, 4), y = load<u32>(at, 8), z = load<u32>(at, 12);
    const c0 = (u64(column(w, x, y, z)) | (u64(column(x, y, z, w)) << 32)) ^ a0;
    const c1 = (u64(column(y, z, w, x)) | (u64(column(z, w, x, y)) << 32)) ^ a1;
    store<u64>(at, b0 ^ c0);
    const stored = b1 ^ c1, byte = u32(stored >> 24) & 0xff; // byte 11 of the block
    const flip: u32 = (0x75310 >> ((((byte >> 3) & 6) | (byte & 1)) << 1)) & 0x30;
    store<u64>(at, stored ^ (u64(flip) << 24), 8);
    const next = scratchpad + (u32(c0) & ADDRESS_MASK);
    const d0 = load<u64>(next), d1 = load<u64>(next, 8);
    a0 += mulHigh(c0, d0);
    a1 += c0 * d0;
    store<u64>(next, a0);
    store<u64>(next, a1 ^ tweak, 8);
    a0 ^= d0; a1 ^= d1;
    b0 = c0; b1 = c1;
  }
}

/** ⌊2·√(2^64 + n)⌋ − 2^33: a double gives it but for one unit, which integers then settle. */
// @ts-ignore: decorator
@inline function squareRoot(n: u64): u64 {
  const r = u64(sqrt<f64>(f64(n) + 18446744073709551616.0) * 2.0 - 8589934592.0);
  const half = r >> 1, odd = r & 1, square = half * (half + odd) + (r << 32);
  if (square + odd > n) return r - 1;
  return square + (u64(1) << 32) < n - half ? r + 1 : r;
}

/** The block at the other three places of the 64-byte line: rotated by one, with (b1), b and a added. */
// @ts-ignore: decorator
@inline function shuffle(line: usize, at: usize, older: v128, b: v128, a: v128): v128 {
  const p1 = line + (at ^ 0x10), p2 = line + (at ^ 0x20), p3 = line + (at ^ 0x30);
  const x1 = v128.load(p1), x2 = v128.load(p2), x3 = v128.load(p3);
  v128.store(p1, i64x2.add(x3, older));
  v128.store(p2, i64x2.add(x1, b));
  v128.store(p3, i64x2.add(x2, a));
  return v128.xor(v128.xor(x1, x2), x3);
}

// @ts-ignore: decorator
@inline function pair(low: u64, high: u64): v128 { return i64x2.replace_lane(i64x2.splat(low), 1, high); }

/** One AES round of the block at `at` with the round key a. */
// @ts-ignore: decorator
@inline function encrypt(at: usize, a: v128): v128 {
  const w = load<u32>(at), x = load<u32>(at, 4), y = load<u32>(at, 8), z = load<u32>(at, 12);
  const low = u64(column(w, x, y, z)) | (u64(column(x, y, z, w)) << 32);
  const high = u64(column(y, z, w, x)) | (u64(column(z, w, x, y)) << 32);
  return v128.xor(pair(low, high), a);
}

/** Variant 2 shuffles the line around each access and adds a division and a square root. */
export function walk2(): void {
  let a0 = load<u64>(state) ^ load<u64>(state, 32), a1 = load<u64>(state, 8) ^ load<u64>(state, 40);
  let b = v128.xor(v128.load(state, 16), v128.load(state, 48));
  let older = v128.xor(v128.load(state, 64), v128.load(state, 80));
  let quotient = load<u64>(state, 96), root = load<u64>(state, 104);
  for (let i = 0; i < ITERATIONS; ++i) {
    const at = u32(a0) & ADDRESS_MASK, a = pair(a0, a1);
    const c = encrypt(scratchpad + at, a);
    shuffle(scratchpad, at, older, b, a);
    v128.store(scratchpad + at, v128.xor(b, c));
    const c0 = u64(i64x2.extract_lane(c, 0)), c1 = u64(i64x2.extract_lane(c, 1));
    const next = u32(c0) & ADDRESS_MASK, there = scratchpad + next;
    const d0 = load<u64>(there) ^ quotient ^ (root << 32), d1 = load<u64>(there, 8);
    const divisor = u64(u32(c0 + (root << 1)) | 0x80000001);
    quotient = u64(u32(c1 / divisor)) + ((c1 % divisor) << 32);
    root = squareRoot(c0 + quotient);
    let high = mulHigh(c0, d0), low = c0 * d0;
    const one = scratchpad + (next ^ 0x10), two = scratchpad + (next ^ 0x20);
    v128.store(one, v128.xor(v128.load(one), pair(high, low)));
    high ^= load<u64>(two);
    low ^= load<u64>(two, 8);
    shuffle(scratchpad, next, older, b, a);
    a0 += high; a1 += low;
    store<u64>(there, a0);
    store<u64>(there, a1, 8);
    a0 ^= d0; a1 ^= d1;
    older = b; b = c;
  }
}

/** Variant 4 (CryptoNight-R) runs a random program of its height where variant 2 divides. */
export function walk4(): void {
  let a0 = load<u64>(state) ^ load<u64>(state, 32), a1 = load<u64>(state, 8) ^ load<u64>(state, 40);
  let b = v128.xor(v128.load(state, 16), v128.load(state, 48));
  let older = v128.xor(v128.load(state, 64), v128.load(state, 80));
  v128.store(registers, v128.load(state, 96));
  for (let i = 0; i < ITERATIONS; ++i) {
    const at = u32(a0) & ADDRESS_MASK, a = pair(a0, a1);
    let c = encrypt(scratchpad + at, a);
    c = v128.xor(c, shuffle(scratchpad, at, older, b, a));
    v128.store(scratchpad + at, v128.xor(b, c));
    const c0 = u64(i64x2.extract_lane(c, 0));
    const next = u32(c0) & ADDRESS_MASK, there = scratchpad + next;
    const sum01: u32 = load<u32>(registers) + load<u32>(registers, 4); // 32 bits wide: the carries are lost
    const sum23: u32 = load<u32>(registers, 8) + load<u32>(registers, 12);
    const d0 = load<u64>(there) ^ (u64(sum01) | (u64(sum23) << 32)), d1 = load<u64>(there, 8);
    store<u32>(registers, u32(a0), 16);
    store<u32>(registers, u32(a1), 20);
    store<u32>(registers, i32x4.extract_lane(b, 0), 24);
    store<u32>(registers, i32x4.extract_lane(older, 0), 28);
    store<u32>(registers, i32x4.extract_lane(older, 2), 32);
    runProgram();
    a0 ^= load<u64>(registers, 8);
    a1 ^= load<u64>(registers);
    const high = mulHigh(c0, d0), low = c0 * d0;
    c = v128.xor(c, shuffle(scratchpad, next, older, b, a));
    a0 += high; a1 += low;
    store<u64>(there, a0);
    store<u64>(there, a1, 8);
    a0 ^= d0; a1 ^= d1;
    older = b; b = c;
  }
  memory.fill(registers, 0, 36);
}
