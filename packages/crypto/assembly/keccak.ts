/**
 * Keccak-256 with the original padding (0x01), as CryptoNote's `cn_fast_hash`: rate 136 bytes.
 * Source: Bertoni et al., "The Keccak reference", version 3.0.
 */
import { scReduce32 } from "./scalar";

const RATE: i32 = 136;
const STATE: usize = memory.data(200, 16);
const ROUND_CONSTANTS: usize = memory.data<u64>([
  0x0000000000000001, 0x0000000000008082, 0x800000000000808a, 0x8000000080008000, 0x000000000000808b, 0x0000000080000001,
  0x8000000080008081, 0x8000000000008009, 0x000000000000008a, 0x0000000000000088, 0x0000000080008009, 0x000000008000000a,
  0x000000008000808b, 0x800000000000008b, 0x8000000000008089, 0x8000000000008003, 0x8000000000008002, 0x8000000000000080,
  0x000000000000800a, 0x800000008000000a, 0x8000000080008081, 0x8000000000008080, 0x0000000080000001, 0x8000000080008008,
], 16);

/** The permutation, lanes named a…y in the order x + 5y, all in registers. */
function permute(state: usize): void {
  let a = load<u64>(state, 0), b = load<u64>(state, 8), c = load<u64>(state, 16), d = load<u64>(state, 24), e = load<u64>(state, 32);
  let f = load<u64>(state, 40), g = load<u64>(state, 48), h = load<u64>(state, 56), i = load<u64>(state, 64), j = load<u64>(state, 72);
  let k = load<u64>(state, 80), l = load<u64>(state, 88), m = load<u64>(state, 96), n = load<u64>(state, 104), o = load<u64>(state, 112);
  let p = load<u64>(state, 120), q = load<u64>(state, 128), r = load<u64>(state, 136), s = load<u64>(state, 144), t = load<u64>(state, 152);
  let u = load<u64>(state, 160), v = load<u64>(state, 168), w = load<u64>(state, 176), x = load<u64>(state, 184), y = load<u64>(state, 192);
  for (let round: usize = 0; round < 24 * 8; round += 8) {
    // θ: column parities into every lane.
    const c0 = a ^ f ^ k ^ p ^ u;
    const c1 = b ^ g ^ l ^ q ^ v;
    const c2 = c ^ h ^ m ^ r ^ w;
    const c3 = d ^ i ^ n ^ s ^ x;
    const c4 = e ^ j ^ o ^ t ^ y;
    const d0 = c4 ^ rotl<u64>(c1, 1);
    const d1 = c0 ^ rotl<u64>(c2, 1);
    const d2 = c1 ^ rotl<u64>(c3, 1);
    const d3 = c2 ^ rotl<u64>(c4, 1);
    const d4 = c3 ^ rotl<u64>(c0, 1);
    // ρ and π: lane (x, y) rotated and moved to (y, 2x + 3y).
    const b0 = a ^ d0;
    const b1 = rotl<u64>(g ^ d1, 44);
    const b2 = rotl<u64>(m ^ d2, 43);
    const b3 = rotl<u64>(s ^ d3, 21);
    const b4 = rotl<u64>(y ^ d4, 14);
    const b5 = rotl<u64>(d ^ d3, 28);
    const b6 = rotl<u64>(j ^ d4, 20);
    const b7 = rotl<u64>(k ^ d0, 3);
    const b8 = rotl<u64>(q ^ d1, 45);
    const b9 = rotl<u64>(w ^ d2, 61);
    const b10 = rotl<u64>(b ^ d1, 1);
    const b11 = rotl<u64>(h ^ d2, 6);
    const b12 = rotl<u64>(n ^ d3, 25);
    const b13 = rotl<u64>(t ^ d4, 8);
    const b14 = rotl<u64>(u ^ d0, 18);
    const b15 = rotl<u64>(e ^ d4, 27);
    const b16 = rotl<u64>(f ^ d0, 36);
    const b17 = rotl<u64>(l ^ d1, 10);
    const b18 = rotl<u64>(r ^ d2, 15);
    const b19 = rotl<u64>(x ^ d3, 56);
    const b20 = rotl<u64>(c ^ d2, 62);
    const b21 = rotl<u64>(i ^ d3, 55);
    const b22 = rotl<u64>(o ^ d4, 39);
    const b23 = rotl<u64>(p ^ d0, 41);
    const b24 = rotl<u64>(v ^ d1, 2);
    // χ and ι.
    a = b0 ^ (~b1 & b2); b = b1 ^ (~b2 & b3); c = b2 ^ (~b3 & b4); d = b3 ^ (~b4 & b0); e = b4 ^ (~b0 & b1);
    f = b5 ^ (~b6 & b7); g = b6 ^ (~b7 & b8); h = b7 ^ (~b8 & b9); i = b8 ^ (~b9 & b5); j = b9 ^ (~b5 & b6);
    k = b10 ^ (~b11 & b12); l = b11 ^ (~b12 & b13); m = b12 ^ (~b13 & b14); n = b13 ^ (~b14 & b10); o = b14 ^ (~b10 & b11);
    p = b15 ^ (~b16 & b17); q = b16 ^ (~b17 & b18); r = b17 ^ (~b18 & b19); s = b18 ^ (~b19 & b15); t = b19 ^ (~b15 & b16);
    u = b20 ^ (~b21 & b22); v = b21 ^ (~b22 & b23); w = b22 ^ (~b23 & b24); x = b23 ^ (~b24 & b20); y = b24 ^ (~b20 & b21);
    a ^= load<u64>(ROUND_CONSTANTS + round);
  }
  store<u64>(state, a, 0); store<u64>(state, b, 8); store<u64>(state, c, 16); store<u64>(state, d, 24); store<u64>(state, e, 32);
  store<u64>(state, f, 40); store<u64>(state, g, 48); store<u64>(state, h, 56); store<u64>(state, i, 64); store<u64>(state, j, 72);
  store<u64>(state, k, 80); store<u64>(state, l, 88); store<u64>(state, m, 96); store<u64>(state, n, 104); store<u64>(state, o, 112);
  store<u64>(state, p, 120); store<u64>(state, q, 128); store<u64>(state, r, 136); store<u64>(state, s, 144); store<u64>(state, t, 152);
  store<u64>(state, u, 160); store<u64>(state, v, 168); store<u64>(state, w, 176); store<u64>(state, x, 184); store<u64>(state, y, 192);
}

@inline function absorbBlock(state: usize, block: usize): void {
  for (let i: usize = 0; i < 136; i += 8) store<u64>(state + i, load<u64>(state + i) ^ load<u64>(block + i));
}

/** Absorbs the whole blocks of `length` bytes into the state; returns how many bytes were taken. */
export function absorb(state: usize, data: usize, length: i32): i32 {
  let blockBytes = 0;
  for (; length - blockBytes >= RATE; blockBytes += RATE) {
    absorbBlock(state, data + blockBytes);
    permute(state);
  }
  return blockBytes;
}

/** Absorbs a last part shorter than a block, pads, and writes the 32-byte hash. The state is spent. */
export function squeeze(out: usize, state: usize, rest: usize, length: i32): void {
  for (let i = 0; i < length; ++i) store<u8>(state + i, load<u8>(state + i) ^ load<u8>(rest + i));
  store<u8>(state + length, load<u8>(state + length) ^ 1);
  store<u8>(state, load<u8>(state, 135) ^ 0x80, 135);
  permute(state);
  memory.copy(out, state, 32);
}

/** 32 bytes at `out` = hash of `length` bytes; `out` may be inside the data. */
export function keccak256(out: usize, data: usize, length: i32): void {
  memory.fill(STATE, 0, 200);
  const blockBytes = absorb(STATE, data, length);
  squeeze(out, STATE, data + blockBytes, length - blockBytes);
}

/** out = Hs of `length` bytes: their hash mod ℓ; `out` may be inside the data. */
export function hashToScalar(out: usize, data: usize, length: i32): void {
  keccak256(out, data, length);
  scReduce32(out, out);
}

export function wipeKeccak(): void {
  memory.fill(STATE, 0, 200);
}
