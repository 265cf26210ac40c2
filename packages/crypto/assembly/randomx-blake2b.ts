// BLAKE2b without key. Source: RFC 7693.

const initial: usize = memory.data<u64>([
  0x6a09e667f3bcc908, 0xbb67ae8584caa73b, 0x3c6ef372fe94f82b, 0xa54ff53a5f1d36f1,
  0x510e527fade682d1, 0x9b05688c2b3e6c1f, 0x1f83d9abfb41bd6b, 0x5be0cd19137e2179], 16);
/** Message word order of each round. */
const order: usize = memory.data<u8>([
  0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15,
  14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3,
  11, 8, 12, 0, 5, 2, 15, 13, 10, 14, 3, 6, 7, 1, 9, 4,
  7, 9, 3, 1, 13, 12, 11, 14, 2, 6, 5, 10, 4, 0, 15, 8,
  9, 0, 5, 7, 2, 4, 10, 15, 14, 1, 11, 12, 6, 8, 3, 13,
  2, 12, 6, 10, 0, 11, 8, 3, 4, 13, 7, 5, 15, 14, 1, 9,
  12, 5, 1, 15, 14, 13, 4, 10, 0, 7, 6, 3, 9, 2, 8, 11,
  13, 11, 7, 14, 12, 1, 3, 9, 5, 0, 15, 4, 8, 6, 2, 10,
  6, 15, 14, 9, 11, 3, 0, 8, 12, 2, 13, 7, 1, 4, 10, 5,
  10, 2, 8, 4, 7, 6, 1, 5, 15, 11, 9, 14, 3, 12, 13, 0]);

/** Where the hash, a block of the message and the working vector lie in the 320 bytes that the caller lends. */
const BLOCK: usize = 64;
const VECTOR: usize = 192;

// @ts-ignore: decorator
@inline function mix(v: usize, a: usize, b: usize, c: usize, d: usize, x: u64, y: u64): void {
  let va = load<u64>(v + 8 * a), vb = load<u64>(v + 8 * b), vc = load<u64>(v + 8 * c), vd = load<u64>(v + 8 * d);
  va += vb + x; vd = rotr<u64>(vd ^ va, 32);
  vc += vd; vb = rotr<u64>(vb ^ vc, 24);
  va += vb + y; vd = rotr<u64>(vd ^ va, 16);
  vc += vd; vb = rotr<u64>(vb ^ vc, 63);
  store<u64>(v + 8 * a, va); store<u64>(v + 8 * b, vb); store<u64>(v + 8 * c, vc); store<u64>(v + 8 * d, vd);
}

// @ts-ignore: decorator
@inline function word(block: usize, at: usize): u64 { return load<u64>(block + 8 * usize(load<u8>(at))); }

function compress(hash: usize, counter: u64, last: bool): void {
  const block = hash + BLOCK, v = hash + VECTOR;
  memory.copy(v, hash, 64);
  memory.copy(v + 64, initial, 64);
  store<u64>(v + 96, load<u64>(v + 96) ^ counter);
  if (last) store<u64>(v + 112, ~load<u64>(v + 112));
  for (let round: usize = 0; round < 12; ++round) {
    const s = order + 16 * (round % 10);
    mix(v, 0, 4, 8, 12, word(block, s), word(block, s + 1));
    mix(v, 1, 5, 9, 13, word(block, s + 2), word(block, s + 3));
    mix(v, 2, 6, 10, 14, word(block, s + 4), word(block, s + 5));
    mix(v, 3, 7, 11, 15, word(block, s + 6), word(block, s + 7));
    mix(v, 0, 5, 10, 15, word(block, s + 8), word(block, s + 9));
    mix(v, 1, 6, 11, 12, word(block, s + 10), word(block, s + 11));
    mix(v, 2, 7, 8, 13, word(block, s + 12), word(block, s + 13));
    mix(v, 3, 4, 9, 14, word(block, s + 14), word(block, s + 15));
  }
  for (let i: usize = 0; i < 64; i += 8)
    store<u64>(hash + i, load<u64>(hash + i) ^ load<u64>(v + i) ^ load<u64>(v + i, 64));
}

/** The digest of `outBytes` (1 to 64) of `bytes` bytes; `out` may be where the data is; `hash` is 320 bytes of work. */
export function blake2b(out: usize, outBytes: u32, data: usize, bytes: u32, hash: usize): void {
  const block = hash + BLOCK;
  memory.copy(hash, initial, 64);
  store<u64>(hash, load<u64>(hash) ^ 0x01010000 ^ u64(outBytes));
  let at: u32 = 0;
  for (; bytes - at > 128; at += 128) {
    memory.copy(block, data + at, 128);
    compress(hash, u64(at) + 128, false);
  }
  memory.fill(block, 0, 128);
  memory.copy(block, data + at, bytes - at);
  compress(hash, u64(bytes), true);
  memory.copy(out, hash, outBytes);
}
