/**
 * Arithmetic mod ℓ = 2^252 + δ, δ = 27742317777372353535851937790883648493 (125 bits). All functions are branch-free.
 *
 * In memory a scalar is 32 bytes, little-endian. Inside a function it is 9 limbs of 28 bits, the last one of 32 bits
 * so that any 256-bit value is accepted: a column of a product then fits 64 bits without carries. Reduction uses
 * 2^252 = −δ three times; results are canonical.
 */

/** δ in 28-bit limbs. */
const D0: i64 = 0xcf5d3ed, D1: i64 = 0x12631a5, D2: i64 = 0x79cd658, D3: i64 = 0xf9dea2f, D4: i64 = 0x14de;
const M: i64 = 0xfffffff;

/** ℓ − 2 = 2^252 + (δ − 2), the exponent of inversion. */
const EXPONENT: usize = memory.data<u64>([0x5812631a5cf5d3eb, 0x14def9dea2f79cd6, 0, 0x1000000000000000]);
export const SCALAR_ZERO: usize = memory.data<u64>([0, 0, 0, 0]);
export const SCALAR_ONE: usize = memory.data<u64>([1, 0, 0, 0]);
/** 1/8 mod ℓ. */
export const INVERSE_EIGHT: usize = memory.data<u64>([0x6106e529e2dc2f79, 0x07d39db37d1cdad0, 0, 0x0600000000000000]);

@inline export function limb0(p: usize): u64 { return load<u64>(p) & M; }
@inline export function limb1(p: usize): u64 { return (load<u64>(p) >> 28) & M; }
@inline export function limb2(p: usize): u64 { return (load<u64>(p) >> 56 | load<u64>(p, 8) << 8) & M; }
@inline export function limb3(p: usize): u64 { return (load<u64>(p, 8) >> 20) & M; }
@inline export function limb4(p: usize): u64 { return (load<u64>(p, 8) >> 48 | load<u64>(p, 16) << 16) & M; }
@inline export function limb5(p: usize): u64 { return (load<u64>(p, 16) >> 12) & M; }
@inline export function limb6(p: usize): u64 { return (load<u64>(p, 16) >> 40 | load<u64>(p, 24) << 24) & M; }
@inline export function limb7(p: usize): u64 { return (load<u64>(p, 24) >> 4) & M; }
/** The upper 32 bits. */
@inline export function limb8(p: usize): u64 { return load<u64>(p, 24) >> 32; }

/** o = Σ u_k·2^(28 k) mod ℓ for signed columns |u_k| < 2^62. */
@inline function finish(o: usize, u0: i64, u1: i64, u2: i64, u3: i64, u4: i64, u5: i64, u6: i64, u7: i64, u8: i64): void {
  u1 += u0 >> 28; u2 += u1 >> 28; u3 += u2 >> 28; u4 += u3 >> 28; u5 += u4 >> 28; u6 += u5 >> 28; u7 += u6 >> 28; u8 += u7 >> 28;
  const top = u8 >> 28; // |top| < 2^35, and top·δ < 2^160
  u0 = (u0 & M) - top * D0; u1 = (u1 & M) - top * D1; u2 = (u2 & M) - top * D2; u3 = (u3 & M) - top * D3; u4 = (u4 & M) - top * D4;
  u5 &= M; u6 &= M; u7 &= M; u8 &= M;
  u1 += u0 >> 28; u2 += u1 >> 28; u3 += u2 >> 28; u4 += u3 >> 28; u5 += u4 >> 28; u6 += u5 >> 28; u7 += u6 >> 28; u8 += u7 >> 28;
  u0 &= M; u1 &= M; u2 &= M; u3 &= M; u4 &= M; u5 &= M; u6 &= M; u7 &= M;
  // Now −2^160 < u < 2^252 + 2^160. Add ℓ if negative, then subtract ℓ if that leaves it non-negative.
  const negative = u8 >> 63;
  u0 += D0 & negative; u1 += D1 & negative; u2 += D2 & negative; u3 += D3 & negative; u4 += D4 & negative; u8 += (1 << 28) & negative;
  u1 += u0 >> 28; u2 += u1 >> 28; u3 += u2 >> 28; u4 += u3 >> 28; u5 += u4 >> 28; u6 += u5 >> 28; u7 += u6 >> 28; u8 += u7 >> 28;
  u0 &= M; u1 &= M; u2 &= M; u3 &= M; u4 &= M; u5 &= M; u6 &= M; u7 &= M;
  let v0 = u0 - D0, v1 = u1 - D1, v2 = u2 - D2, v3 = u3 - D3, v4 = u4 - D4, v5 = u5, v6 = u6, v7 = u7, v8 = u8 - (1 << 28);
  v1 += v0 >> 28; v2 += v1 >> 28; v3 += v2 >> 28; v4 += v3 >> 28; v5 += v4 >> 28; v6 += v5 >> 28; v7 += v6 >> 28; v8 += v7 >> 28;
  const keep = v8 >> 63;
  v0 = (v0 & M & ~keep) | (u0 & keep); v1 = (v1 & M & ~keep) | (u1 & keep); v2 = (v2 & M & ~keep) | (u2 & keep);
  v3 = (v3 & M & ~keep) | (u3 & keep); v4 = (v4 & M & ~keep) | (u4 & keep); v5 = (v5 & M & ~keep) | (u5 & keep);
  v6 = (v6 & M & ~keep) | (u6 & keep); v7 = (v7 & M & ~keep) | (u7 & keep); v8 = (v8 & ~keep) | (u8 & keep);
  store<u64>(o, v0 | (v1 << 28) | (v2 << 56));
  store<u64>(o, (v2 >> 8) | (v3 << 20) | (v4 << 48), 8);
  store<u64>(o, (v4 >> 16) | (v5 << 12) | (v6 << 40), 16);
  store<u64>(o, (v6 >> 24) | (v7 << 4) | (v8 << 32), 24);
}

/** o = Σ r_k·2^(28 k) mod ℓ for unsigned columns r_k < 2^63 (r_16 < 2^64): lo + hi·2^252 = lo − hi·δ, twice. */
@inline export function fold(
  o: usize, r0: u64, r1: u64, r2: u64, r3: u64, r4: u64, r5: u64, r6: u64, r7: u64, r8: u64,
  r9: u64, r10: u64, r11: u64, r12: u64, r13: u64, r14: u64, r15: u64, r16: u64,
): void {
  r1 += r0 >> 28; r2 += r1 >> 28; r3 += r2 >> 28; r4 += r3 >> 28; r5 += r4 >> 28; r6 += r5 >> 28; r7 += r6 >> 28; r8 += r7 >> 28;
  r9 += r8 >> 28; r10 += r9 >> 28; r11 += r10 >> 28; r12 += r11 >> 28; r13 += r12 >> 28; r14 += r13 >> 28; r15 += r14 >> 28;
  const low16 = (r16 & M) + (r15 >> 28), r17 = (r16 >> 28) + (low16 >> 28);
  const h0: i64 = r9 & M, h1: i64 = r10 & M, h2: i64 = r11 & M, h3: i64 = r12 & M, h4: i64 = r13 & M, h5: i64 = r14 & M;
  const h6: i64 = r15 & M, h7: i64 = low16 & M, h8: i64 = r17 & M, h9: i64 = r17 >> 28;
  let t0 = <i64>(r0 & M) - h0 * D0;
  let t1 = <i64>(r1 & M) - (h0 * D1 + h1 * D0);
  let t2 = <i64>(r2 & M) - (h0 * D2 + h1 * D1 + h2 * D0);
  let t3 = <i64>(r3 & M) - (h0 * D3 + h1 * D2 + h2 * D1 + h3 * D0);
  let t4 = <i64>(r4 & M) - (h0 * D4 + h1 * D3 + h2 * D2 + h3 * D1 + h4 * D0);
  let t5 = <i64>(r5 & M) - (h1 * D4 + h2 * D3 + h3 * D2 + h4 * D1 + h5 * D0);
  let t6 = <i64>(r6 & M) - (h2 * D4 + h3 * D3 + h4 * D2 + h5 * D1 + h6 * D0);
  let t7 = <i64>(r7 & M) - (h3 * D4 + h4 * D3 + h5 * D2 + h6 * D1 + h7 * D0);
  let t8 = <i64>(r8 & M) - (h4 * D4 + h5 * D3 + h6 * D2 + h7 * D1 + h8 * D0);
  let t9 = -(h5 * D4 + h6 * D3 + h7 * D2 + h8 * D1 + h9 * D0);
  let t10 = -(h6 * D4 + h7 * D3 + h8 * D2 + h9 * D1);
  let t11 = -(h7 * D4 + h8 * D3 + h9 * D2);
  let t12 = -(h8 * D4 + h9 * D3);
  let t13 = -(h9 * D4);
  t1 += t0 >> 28; t2 += t1 >> 28; t3 += t2 >> 28; t4 += t3 >> 28; t5 += t4 >> 28; t6 += t5 >> 28; t7 += t6 >> 28; t8 += t7 >> 28;
  t9 += t8 >> 28; t10 += t9 >> 28; t11 += t10 >> 28; t12 += t11 >> 28; t13 += t12 >> 28;
  t0 &= M; t1 &= M; t2 &= M; t3 &= M; t4 &= M; t5 &= M; t6 &= M; t7 &= M; t8 &= M; t9 &= M; t10 &= M; t11 &= M; t12 &= M;
  finish(
    o,
    t0 - t9 * D0,
    t1 - (t9 * D1 + t10 * D0),
    t2 - (t9 * D2 + t10 * D1 + t11 * D0),
    t3 - (t9 * D3 + t10 * D2 + t11 * D1 + t12 * D0),
    t4 - (t9 * D4 + t10 * D3 + t11 * D2 + t12 * D1 + t13 * D0),
    t5 - (t10 * D4 + t11 * D3 + t12 * D2 + t13 * D1),
    t6 - (t11 * D4 + t12 * D3 + t13 * D2),
    t7 - (t12 * D4 + t13 * D3),
    t8 - t13 * D4,
  );
}

/** o = a·b + c; any 256-bit operands. */
export function scMulAdd(o: usize, a: usize, b: usize, c: usize): void {
  const a0 = limb0(a), a1 = limb1(a), a2 = limb2(a), a3 = limb3(a), a4 = limb4(a), a5 = limb5(a), a6 = limb6(a), a7 = limb7(a), a8 = limb8(a);
  const b0 = limb0(b), b1 = limb1(b), b2 = limb2(b), b3 = limb3(b), b4 = limb4(b), b5 = limb5(b), b6 = limb6(b), b7 = limb7(b), b8 = limb8(b);
  fold(
    o,
    limb0(c) + a0 * b0,
    limb1(c) + a0 * b1 + a1 * b0,
    limb2(c) + a0 * b2 + a1 * b1 + a2 * b0,
    limb3(c) + a0 * b3 + a1 * b2 + a2 * b1 + a3 * b0,
    limb4(c) + a0 * b4 + a1 * b3 + a2 * b2 + a3 * b1 + a4 * b0,
    limb5(c) + a0 * b5 + a1 * b4 + a2 * b3 + a3 * b2 + a4 * b1 + a5 * b0,
    limb6(c) + a0 * b6 + a1 * b5 + a2 * b4 + a3 * b3 + a4 * b2 + a5 * b1 + a6 * b0,
    limb7(c) + a0 * b7 + a1 * b6 + a2 * b5 + a3 * b4 + a4 * b3 + a5 * b2 + a6 * b1 + a7 * b0,
    limb8(c) + a0 * b8 + a1 * b7 + a2 * b6 + a3 * b5 + a4 * b4 + a5 * b3 + a6 * b2 + a7 * b1 + a8 * b0,
    a1 * b8 + a2 * b7 + a3 * b6 + a4 * b5 + a5 * b4 + a6 * b3 + a7 * b2 + a8 * b1,
    a2 * b8 + a3 * b7 + a4 * b6 + a5 * b5 + a6 * b4 + a7 * b3 + a8 * b2,
    a3 * b8 + a4 * b7 + a5 * b6 + a6 * b5 + a7 * b4 + a8 * b3,
    a4 * b8 + a5 * b7 + a6 * b6 + a7 * b5 + a8 * b4,
    a5 * b8 + a6 * b7 + a7 * b6 + a8 * b5,
    a6 * b8 + a7 * b7 + a8 * b6,
    a7 * b8 + a8 * b7,
    a8 * b8,
  );
}

/** o = a·b. */
export function scMul(o: usize, a: usize, b: usize): void {
  scMulAdd(o, a, b, SCALAR_ZERO);
}

/** o = a + b. */
export function scAdd(o: usize, a: usize, b: usize): void {
  finish(
    o, limb0(a) + limb0(b), limb1(a) + limb1(b), limb2(a) + limb2(b), limb3(a) + limb3(b), limb4(a) + limb4(b),
    limb5(a) + limb5(b), limb6(a) + limb6(b), limb7(a) + limb7(b), limb8(a) + limb8(b),
  );
}

/** o = a − b. */
export function scSub(o: usize, a: usize, b: usize): void {
  finish(
    o, limb0(a) - limb0(b), limb1(a) - limb1(b), limb2(a) - limb2(b), limb3(a) - limb3(b), limb4(a) - limb4(b),
    limb5(a) - limb5(b), limb6(a) - limb6(b), limb7(a) - limb7(b), limb8(a) - limb8(b),
  );
}

const PRODUCT: usize = memory.data(32, 16);

/** o = c − a·b. */
export function scMulSub(o: usize, a: usize, b: usize, c: usize): void {
  scMul(PRODUCT, a, b);
  scSub(o, c, PRODUCT);
}

/** o = a mod ℓ, 32 bytes in. */
export function scReduce32(o: usize, a: usize): void {
  finish(o, limb0(a), limb1(a), limb2(a), limb3(a), limb4(a), limb5(a), limb6(a), limb7(a), limb8(a));
}

const LOW: usize = memory.data(32, 16);
/** 2^256 mod ℓ. */
const TWO_256: usize = memory.data<u64>([0xd6ec31748d98951d, 0xc6ef5bf4737dcf70, 0xfffffffffffffffe, 0x0fffffffffffffff]);

/** o = a mod ℓ, 64 bytes in: low + high·2^256. */
export function scReduce64(o: usize, a: usize): void {
  memory.copy(LOW, a, 32);
  scMulAdd(o, a + 32, TWO_256, LOW);
}

/** 1 where a < ℓ. */
export function scIsCanonical(a: usize): i32 {
  let v: i64 = <i64>limb0(a) - D0;
  v = (v >> 28) + limb1(a) - D1;
  v = (v >> 28) + limb2(a) - D2;
  v = (v >> 28) + limb3(a) - D3;
  v = (v >> 28) + limb4(a) - D4;
  v = (v >> 28) + limb5(a);
  v = (v >> 28) + limb6(a);
  v = (v >> 28) + limb7(a);
  v = (v >> 28) + limb8(a) - (1 << 28);
  return <i32>(v >>> 63);
}

export function scIsZero(a: usize): i32 {
  return i32((load<u64>(a) | load<u64>(a, 8) | load<u64>(a, 16) | load<u64>(a, 24)) == 0);
}

const POWERS: usize = memory.data(16 * 32, 16);
const RESULT: usize = memory.data(32, 16);

/** o = a^(ℓ − 2) = 1/a, 0 for 0: windows of four bits of a public exponent. */
export function scInvert(o: usize, a: usize): void {
  scReduce32(POWERS + 32, a);
  for (let i = 2; i < 16; ++i) scMul(POWERS + 32 * i, POWERS + 32 * (i - 1), POWERS + 32);
  memory.copy(RESULT, POWERS + 32, 32); // the leading digit of ℓ − 2 is 1
  for (let i = 62; i >= 0; --i) {
    scMul(RESULT, RESULT, RESULT); scMul(RESULT, RESULT, RESULT); scMul(RESULT, RESULT, RESULT); scMul(RESULT, RESULT, RESULT);
    const digit = (load<u8>(EXPONENT + (i >> 1)) >> <u8>(4 * (i & 1))) & 15;
    if (digit) scMul(RESULT, RESULT, POWERS + 32 * <usize>digit);
  }
  memory.copy(o, RESULT, 32);
}

/** Overwrites the temporaries of this file. */
export function wipeScalar(): void {
  memory.fill(POWERS, 0, 16 * 32);
  memory.fill(RESULT, 0, 32);
  memory.fill(PRODUCT, 0, 32);
  memory.fill(LOW, 0, 32);
}
