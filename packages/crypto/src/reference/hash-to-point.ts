import { invert, isOdd, P, reduce, squareRoot } from "./field.ts";
import { readInteger } from "./integers.ts";
import { fromAffine, type Point } from "./point.ts";

/** Curve25519 is v² = u³ + A·u² + u. */
const A = 486662n;

/**
 * A field element to a point of edwards25519 (not yet in the prime-order subgroup: multiply by 8).
 * All 256 bits of the input count. With w = 2r² + 1 and x = w² − 2A²r², the Edwards x is r·√(2A(A+2)·w/x), even, and
 * z = −2Ar², where w/x is a square; else √(A(A+2)·w/x), odd, and z = −A. Then y = (z − w)/(z + w).
 * Source: `ge_fromfe_frombytes_vartime`; Shen Noether, "Understanding ge_fromfe_frombytes_vartime".
 */
export function fieldToPoint(bytes: Uint8Array): Point {
  const r = reduce(readInteger(bytes));
  const v = reduce(2n * r * r);
  const w = v + 1n;
  const x = reduce(w * w - A * A * v);
  const ratio = reduce(A * (A + 2n) * w * invert(x));
  const root = squareRoot(2n * ratio);
  const z = root === undefined ? -A : -A * v;
  const edwardsX =
    root === undefined ? withParity(squareRoot(ratio)!, true) : withParity(reduce(r * root), false);
  return fromAffine(edwardsX, reduce((z - w) * invert(z + w)));
}

function withParity(value: bigint, odd: boolean): bigint {
  return value === 0n || isOdd(value) === odd ? value : P - value;
}
