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

@inline function xor(x: v128, y: v128): v128 { return v128.xor(x, y); }
@inline function turn(x: v128, bits: i32): v128 { return v128.or(i64x2.shl(x, bits), i64x2.shr_u(x, 64 - bits)); }
@inline function mix(x: v128, y: v128, z: v128): v128 { return v128.xor(x, v128.andnot(z, y)); }

/** Two permutations at once: lane k of `state` (16 bytes each) holds lane k of both. */
function permutePair(state: usize): void {
  let a = v128.load(state, 0), b = v128.load(state, 16), c = v128.load(state, 32), d = v128.load(state, 48);
  let e = v128.load(state, 64), f = v128.load(state, 80), g = v128.load(state, 96), h = v128.load(state, 112);
  let i = v128.load(state, 128), j = v128.load(state, 144), k = v128.load(state, 160), l = v128.load(state, 176);
  let m = v128.load(state, 192), n = v128.load(state, 208), o = v128.load(state, 224), p = v128.load(state, 240);
  let q = v128.load(state, 256), r = v128.load(state, 272), s = v128.load(state, 288), t = v128.load(state, 304);
  let u = v128.load(state, 320), v = v128.load(state, 336), w = v128.load(state, 352), x = v128.load(state, 368);
  let y = v128.load(state, 384);
  for (let round: usize = 0; round < 24 * 8; round += 8) {
    // θ: column parities into every lane.
    const c0 = xor(xor(xor(xor(a, f), k), p), u);
    const c1 = xor(xor(xor(xor(b, g), l), q), v);
    const c2 = xor(xor(xor(xor(c, h), m), r), w);
    const c3 = xor(xor(xor(xor(d, i), n), s), x);
    const c4 = xor(xor(xor(xor(e, j), o), t), y);
    const d0 = xor(c4, turn(c1, 1));
    const d1 = xor(c0, turn(c2, 1));
    const d2 = xor(c1, turn(c3, 1));
    const d3 = xor(c2, turn(c4, 1));
    const d4 = xor(c3, turn(c0, 1));
    // ρ and π: lane (x, y) rotated and moved to (y, 2x + 3y).
    const b0 = xor(a, d0);
    const b1 = turn(xor(g, d1), 44);
    const b2 = turn(xor(m, d2), 43);
    const b3 = turn(xor(s, d3), 21);
    const b4 = turn(xor(y, d4), 14);
    const b5 = turn(xor(d, d3), 28);
    const b6 = turn(xor(j, d4), 20);
    const b7 = turn(xor(k, d0), 3);
    const b8 = turn(xor(q, d1), 45);
    const b9 = turn(xor(w, d2), 61);
    const b10 = turn(xor(b, d1), 1);
    const b11 = turn(xor(h, d2), 6);
    const b12 = turn(xor(n, d3), 25);
    const b13 = turn(xor(t, d4), 8);
    const b14 = turn(xor(u, d0), 18);
    const b15 = turn(xor(e, d4), 27);
    const b16 = turn(xor(f, d0), 36);
    const b17 = turn(xor(l, d1), 10);
    const b18 = turn(xor(r, d2), 15);
    const b19 = turn(xor(x, d3), 56);
    const b20 = turn(xor(c, d2), 62);
    const b21 = turn(xor(i, d3), 55);
    const b22 = turn(xor(o, d4), 39);
    const b23 = turn(xor(p, d0), 41);
    const b24 = turn(xor(v, d1), 2);
    // χ and ι.
    a = mix(b0, b1, b2); b = mix(b1, b2, b3); c = mix(b2, b3, b4); d = mix(b3, b4, b0); e = mix(b4, b0, b1);
    f = mix(b5, b6, b7); g = mix(b6, b7, b8); h = mix(b7, b8, b9); i = mix(b8, b9, b5); j = mix(b9, b5, b6);
    k = mix(b10, b11, b12); l = mix(b11, b12, b13); m = mix(b12, b13, b14); n = mix(b13, b14, b10); o = mix(b14, b10, b11);
    p = mix(b15, b16, b17); q = mix(b16, b17, b18); r = mix(b17, b18, b19); s = mix(b18, b19, b15); t = mix(b19, b15, b16);
    u = mix(b20, b21, b22); v = mix(b21, b22, b23); w = mix(b22, b23, b24); x = mix(b23, b24, b20); y = mix(b24, b20, b21);
    a = xor(a, v128.load64_splat(ROUND_CONSTANTS + round));
  }
  v128.store(state, a, 0); v128.store(state, b, 16); v128.store(state, c, 32); v128.store(state, d, 48); v128.store(state, e, 64);
  v128.store(state, f, 80); v128.store(state, g, 96); v128.store(state, h, 112); v128.store(state, i, 128); v128.store(state, j, 144);
  v128.store(state, k, 160); v128.store(state, l, 176); v128.store(state, m, 192); v128.store(state, n, 208); v128.store(state, o, 224);
  v128.store(state, p, 240); v128.store(state, q, 256); v128.store(state, r, 272); v128.store(state, s, 288); v128.store(state, t, 304);
  v128.store(state, u, 320); v128.store(state, v, 336); v128.store(state, w, 352); v128.store(state, x, 368); v128.store(state, y, 384);
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

const PAIR: usize = memory.data(400, 16);

/**
 * The first bytes of the hashes of two messages shorter than 48 bytes: an 8-byte word, 32 bytes at `x` or `y`, and the rest
 * with the padding's first bit. The first message's byte is the low one.
 */
export function firstBytesOfPair(word: u64, x: usize, xRest: u64, y: usize, yRest: u64): i32 {
  memory.fill(PAIR, 0, 400);
  store<u64>(PAIR, word);
  store<u64>(PAIR, word, 8);
  for (let i: usize = 0; i < 32; i += 8) {
    store<u64>(PAIR + 16 + 2 * i, load<u64>(x + i));
    store<u64>(PAIR + 16 + 2 * i, load<u64>(y + i), 8);
  }
  store<u64>(PAIR, xRest, 80);
  store<u64>(PAIR, yRest, 88);
  store<u8>(PAIR, 0x80, 263);
  store<u8>(PAIR, 0x80, 271);
  permutePair(PAIR);
  return <i32>load<u8>(PAIR) | (<i32>load<u8>(PAIR, 8) << 8);
}

export function wipeKeccak(): void {
  memory.fill(STATE, 0, 200);
  memory.fill(PAIR, 0, 400);
}
