/** What every field back-end shares: constants, tests, inversion and square roots. Functions act on both lanes. */
import { FE, fromBytes, mul, setInt, sq, sqTimes, toBytes } from "./fe";

/** A field constant from its little-endian 64-bit words, in both lanes. */
export function constant(words: usize): usize {
  const start = nextConstant;
  fromBytes(start, words, words);
  nextConstant += FE;
  return start;
}
const CONSTANTS: usize = memory.data(16 * 160, 16);
let nextConstant: usize = CONSTANTS;

/** −121665/121666, the curve constant of −x² + y² = 1 + d·x²·y². Source: RFC 8032 5.1. */
export const D: usize = constant(memory.data<u64>([0x75eb4dca135978a3, 0x00700a4d4141d8ab, 0x8cc740797779e898, 0x52036cee2b6ffe73]));
export const D2: usize = constant(memory.data<u64>([0xebd69b9426b2f159, 0x00e0149a8283b156, 0x198e80f2eef3d130, 0x2406d9dc56dffce7]));
/** 2^((p − 1)/4), a square root of −1. */
export const SQRT_M1: usize = constant(memory.data<u64>([0xc4ee1b274a0ea0b0, 0x2f431806ad2fe478, 0x2b4d00993dfbd7a7, 0x2b8324804fc1df0b]));
export const ONE: usize = constant(memory.data<u64>([1, 0, 0, 0]));
export const ZERO: usize = constant(memory.data<u64>([0, 0, 0, 0]));

const P0: usize = memory.data(160, 16), P1: usize = memory.data(160, 16), P2: usize = memory.data(160, 16), P3: usize = memory.data(160, 16);

/** P3 = z^(2^250 − 1), P0 = z^11; the usual addition chain (Bernstein, "Curve25519"). Clobbers P1, P2. */
function power250(z: usize): void {
  sqTimes(P0, z, 1); sqTimes(P1, P0, 2); mul(P1, z, P1); mul(P0, P0, P1); // 2, 9, 11
  sq(P2, P0); mul(P1, P1, P2); // 2^5 − 1
  sqTimes(P2, P1, 5); mul(P1, P2, P1); // 2^10 − 1
  sqTimes(P2, P1, 10); mul(P2, P2, P1); // 2^20 − 1
  sqTimes(P3, P2, 20); mul(P2, P3, P2); // 2^40 − 1
  sqTimes(P2, P2, 10); mul(P1, P2, P1); // 2^50 − 1
  sqTimes(P2, P1, 50); mul(P2, P2, P1); // 2^100 − 1
  sqTimes(P3, P2, 100); mul(P2, P3, P2); // 2^200 − 1
  sqTimes(P2, P2, 50); mul(P3, P2, P1); // 2^250 − 1
}

/** o = z^(p − 2) = 1/z; 0 for 0. */
export function invert(o: usize, z: usize): void {
  power250(z);
  sqTimes(P3, P3, 5); // 2^255 − 2^5
  mul(o, P3, P0);
}

const V3: usize = memory.data(160, 16), ROOT: usize = memory.data(160, 16);

/** o = u·v³·(u·v⁷)^((p − 5)/8): o²·v is u times a fourth root of unity. Tight u and v, not aliasing o. */
export function ratioRoot(o: usize, u: usize, v: usize): void {
  sq(V3, v); mul(V3, V3, v);
  sq(ROOT, V3); mul(ROOT, ROOT, v); mul(ROOT, ROOT, u);
  power250(ROOT);
  sqTimes(P3, P3, 2); mul(ROOT, P3, ROOT); // (u·v⁷)^(2^252 − 3)
  mul(V3, V3, u);
  mul(o, ROOT, V3);
}

const B0: usize = memory.data(32, 16), B1: usize = memory.data(32, 16);

@inline function isZeroBytes(b: usize): i32 {
  return i32((load<u64>(b) | load<u64>(b, 8) | load<u64>(b, 16) | load<u64>(b, 24)) == 0);
}

/** A bit per lane: 1 where a = 0 mod p. */
export function zeroLanes(a: usize): i32 {
  toBytes(B0, B1, a);
  return isZeroBytes(B0) | (isZeroBytes(B1) << 1);
}

/** A bit per lane: the parity of the canonical value. */
export function oddLanes(a: usize): i32 {
  toBytes(B0, B1, a);
  return <i32>(load<u8>(B0) & 1) | (<i32>(load<u8>(B1) & 1) << 1);
}

/** Overwrites the temporaries of this file. */
export function wipeField(): void {
  setInt(P0, 0); setInt(P1, 0); setInt(P2, 0); setInt(P3, 0); setInt(V3, 0); setInt(ROOT, 0);
  memory.fill(B0, 0, 32); memory.fill(B1, 0, 32);
}
