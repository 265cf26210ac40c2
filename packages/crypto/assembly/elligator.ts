/**
 * CryptoNote's hash to a point: Elligator 2 on the Montgomery curve of coefficient A = 486662, mapped to the Edwards
 * curve and multiplied by 8. Source: Shen Noether, "Understanding ge_fromfe_frombytes_vartime"; crypto.cpp `hash_to_ec`.
 */
import { addCarry, carry, add, copy, fromBytes, mul, negIf, select, sq, subCarry } from "./fe";
import { ONE, SQRT_M1, constant, oddLanes, ratioRoot, zeroLanes } from "./field";
import { X, Y, Z, mulBy8 } from "./point";
import { keccak256 } from "./keccak";

const MINUS_A: usize = constant(memory.data<u64>([0xfffffffffff892e7, u64.MAX_VALUE, u64.MAX_VALUE, 0x7fffffffffffffff]));
const MINUS_A2: usize = constant(memory.data<u64>([0xffffffc8db3de3c9, u64.MAX_VALUE, u64.MAX_VALUE, 0x7fffffffffffffff]));
/** Square roots of −2A(A + 2), 2A(A + 2), −√−1·A(A + 2), √−1·A(A + 2); which of the two roots does not matter. */
const ROOT_1: usize = constant(memory.data<u64>([0xdd58968acde3bdff, 0x2e6bfb5746d58c72, 0xdf563ac8be04e61c, 0x018e04102529e4e8]));
const ROOT_2: usize = constant(memory.data<u64>([0x2d219b7c9f83650d, 0xae21fcb9fba90820, 0x6e2bae483fe9a041, 0x32f9e1f5fba5d309]));
const ROOT_3: usize = constant(memory.data<u64>([0x581b7d8717302c66, 0x4024ff4ea5964229, 0xb89546403f0da2ed, 0x674a110d14c208ef]));
const ROOT_4: usize = constant(memory.data<u64>([0x7ac2e6fc494c6e67, 0x11b903f75ec0b5b6, 0xd93f0b778108bcd1, 0x65bc0cfcef982406]));

const U: usize = memory.data(160, 16), V: usize = memory.data(160, 16), W: usize = memory.data(160, 16), Q: usize = memory.data(160, 16);
const R: usize = memory.data(160, 16), S: usize = memory.data(160, 16), E: usize = memory.data(160, 16), K: usize = memory.data(160, 16);
const HASHES: usize = memory.data(64, 16);

/** o = 8·map(bytes at p) (lane 0), 8·map(bytes at q) (lane 1), with T where asked for. All 256 bits of the input count. */
function mapBytes(o: usize, p: usize, q: usize, withT: bool): void {
  fromBytes(U, p, q);
  addTopBit(p, q);
  sq(V, U);
  addCarry(V, V, V); // v = 2u²
  addCarry(W, V, ONE); // w = 2u² + 1
  sq(Q, W);
  mul(E, MINUS_A2, V);
  addCarry(Q, Q, E); // x = w² − 2A²u²
  ratioRoot(R, W, Q); // r²·x = w·(1, −1, √−1 or −√−1)
  sq(S, R);
  mul(S, S, Q);
  subCarry(E, W, S);
  const plus = zeroLanes(E);
  addCarry(E, W, S);
  const square = plus | zeroLanes(E); // w/x is ± a square: the first candidate lies on the curve
  mul(S, S, SQRT_M1);
  subCarry(E, W, S);
  const turned = zeroLanes(E);
  select(E, ROOT_2, ROOT_1, plus);
  mul(E, E, U);
  select(K, ROOT_4, ROOT_3, turned);
  select(E, E, K, square);
  mul(R, R, E); // the root, up to its sign
  negIf(R, R, oddLanes(R) ^ (~square & 3));
  mul(V, MINUS_A, V);
  select(V, V, MINUS_A, square); // −2A·u² or −A
  addCarry(o + Z, V, W);
  subCarry(o + Y, V, W);
  mul(o + X, R, o + Z);
  mulBy8(o, o, withT);
}

const NINETEEN: usize = constant(memory.data<u64>([19, 0, 0, 0]));

/** fromBytes drops bit 255; here it counts 2^255 = 19. */
function addTopBit(p: usize, q: usize): void {
  const bits = <i32>(load<u8>(p, 31) >> 7) | (<i32>(load<u8>(q, 31) >> 7) << 1);
  add(E, U, NINETEEN);
  select(U, E, U, bits);
  carry(U, U);
}

/** o = hash-to-point of the 32 bytes at p (lane 0) and at q (lane 1), with T where asked for. */
export function hashToPoint(o: usize, p: usize, q: usize, withT: bool): void {
  keccak256(HASHES, p, 32);
  keccak256(HASHES + 32, q, 32);
  mapBytes(o, HASHES, HASHES + 32, withT);
}
