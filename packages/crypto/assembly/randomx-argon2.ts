// Argon2d's memory fill, one lane, three passes, version 0x13. Source: RFC 9106, sections 3.4 and 3.6.

import { CACHE_BLOCKS } from "./randomx-memory";

const PASSES: u32 = 3;
const SLICES: u32 = 4;
const SLICE_BLOCKS: u32 = CACHE_BLOCKS / SLICES;

/** a + b + 2·(low half of a)·(low half of b), in both lanes. */
// @ts-ignore: decorator
@inline function sum(a: v128, b: v128): v128 {
  const product = i64x2.extmul_low_i32x4_u(v128.shuffle<i32>(a, a, 0, 2, 0, 2), v128.shuffle<i32>(b, b, 0, 2, 0, 2));
  return i64x2.add(i64x2.add(a, b), i64x2.add(product, product));
}
// @ts-ignore: decorator
@inline function right32(x: v128): v128 { return v128.shuffle<i32>(x, x, 1, 0, 3, 2); }
// @ts-ignore: decorator
@inline function right24(x: v128): v128 { return v128.shuffle<i8>(x, x, 3, 4, 5, 6, 7, 0, 1, 2, 11, 12, 13, 14, 15, 8, 9, 10); }
// @ts-ignore: decorator
@inline function right16(x: v128): v128 { return v128.shuffle<i16>(x, x, 1, 2, 3, 0, 5, 6, 7, 4); }
// @ts-ignore: decorator
@inline function right63(x: v128): v128 { return v128.or(i64x2.add(x, x), i64x2.shr_u(x, 63)); }
/** Upper lane of a, lower lane of b. */
// @ts-ignore: decorator
@inline function join(a: v128, b: v128): v128 { return v128.shuffle<i64>(a, b, 1, 2); }

/** The permutation of 16 words, as eight pairs `stride` bytes apart. */
function permute(at: usize, stride: usize): void {
  let a0 = v128.load(at), a1 = v128.load(at + stride), b0 = v128.load(at + 2 * stride), b1 = v128.load(at + 3 * stride);
  let c0 = v128.load(at + 4 * stride), c1 = v128.load(at + 5 * stride);
  let d0 = v128.load(at + 6 * stride), d1 = v128.load(at + 7 * stride);
  for (let half = 0; half < 2; ++half) {
    a0 = sum(a0, b0); a1 = sum(a1, b1);
    d0 = right32(v128.xor(d0, a0)); d1 = right32(v128.xor(d1, a1));
    c0 = sum(c0, d0); c1 = sum(c1, d1);
    b0 = right24(v128.xor(b0, c0)); b1 = right24(v128.xor(b1, c1));
    a0 = sum(a0, b0); a1 = sum(a1, b1);
    d0 = right16(v128.xor(d0, a0)); d1 = right16(v128.xor(d1, a1));
    c0 = sum(c0, d0); c1 = sum(c1, d1);
    b0 = right63(v128.xor(b0, c0)); b1 = right63(v128.xor(b1, c1));
    // Columns become diagonals, then diagonals columns again: after the second half it is the other way round.
    const b = b0, c = c0, d = d0;
    c0 = c1; c1 = c;
    if (half == 0) { b0 = join(b, b1); b1 = join(b1, b); d0 = join(d1, d); d1 = join(d, d1); }
    else { b0 = join(b1, b); b1 = join(b, b1); d0 = join(d, d1); d1 = join(d1, d); }
  }
  v128.store(at, a0); v128.store(at + stride, a1); v128.store(at + 2 * stride, b0); v128.store(at + 3 * stride, b1);
  v128.store(at + 4 * stride, c0); v128.store(at + 5 * stride, c1);
  v128.store(at + 6 * stride, d0); v128.store(at + 7 * stride, d1);
}

/** next = P(previous ^ reference) ^ previous ^ reference, with what `next` held before from the second pass on. */
function fillBlock(previous: usize, reference: usize, next: usize, again: bool, work: usize): void {
  for (let i: usize = 0; i < 1024; i += 16) {
    const x = v128.xor(v128.load(previous + i), v128.load(reference + i));
    v128.store(work + i, x);
    v128.store(next + i, again ? v128.xor(x, v128.load(next + i)) : x);
  }
  for (let i: usize = 0; i < 8; ++i) permute(work + 128 * i, 16);
  for (let i: usize = 0; i < 8; ++i) permute(work + 16 * i, 128);
  for (let i: usize = 0; i < 1024; i += 16) v128.store(next + i, v128.xor(v128.load(next + i), v128.load(work + i)));
}

/** Index of the block that `random` chooses for block `index` of a slice. */
function referenceOf(pass: u32, slice: u32, index: u32, random: u32): u32 {
  const area: u32 = (pass == 0 ? slice * SLICE_BLOCKS : CACHE_BLOCKS - SLICE_BLOCKS) + index - 1;
  const x = (u64(random) * u64(random)) >> 32;
  const relative = u64(area) - 1 - ((u64(area) * x) >> 32);
  const start: u32 = pass == 0 || slice == SLICES - 1 ? 0 : (slice + 1) * SLICE_BLOCKS;
  return u32((u64(start) + relative) % u64(CACHE_BLOCKS));
}

/** Fills the cache, whose first two blocks are there; `work` is 1 KiB. */
export function fillCache(cache: usize, work: usize): void {
  for (let pass: u32 = 0; pass < PASSES; ++pass) {
    for (let slice: u32 = 0; slice < SLICES; ++slice) {
      for (let index: u32 = pass == 0 && slice == 0 ? 2 : 0; index < SLICE_BLOCKS; ++index) {
        const current = slice * SLICE_BLOCKS + index;
        const previous = cache + (usize(current == 0 ? CACHE_BLOCKS - 1 : current - 1) << 10);
        const reference = referenceOf(pass, slice, index, load<u32>(previous));
        fillBlock(previous, cache + (usize(reference) << 10), cache + (usize(current) << 10), pass > 0, work);
      }
    }
  }
}
