/**
 * The group of edwards25519: −x² + y² = 1 + d·x²·y². A point is kept in extended coordinates, x = X/Z, y = Y/Z, xy = T/Z.
 * Source: RFC 8032 §5.1; Hisil, Wong, Carter, Dawson 2008 (the addition law, complete on this curve).
 */
import { once } from "../once.ts";
import { invert, isOdd, P, reduce, squareRoot } from "./field.ts";
import { readInteger, writeInteger } from "./integers.ts";

export type Point = { readonly X: bigint; readonly Y: bigint; readonly Z: bigint; readonly T: bigint };

const D = reduce(-121665n * invert(121666n));
const SIGN_BIT = 1n << 255n;

export const IDENTITY: Point = { X: 0n, Y: 1n, Z: 1n, T: 0n };

/** y = 4/5, x even. Source: RFC 8032 §5.1. */
export const basePoint: () => Point = once(() => fromAffineY(reduce(4n * invert(5n)), false)!);

export function fromAffine(x: bigint, y: bigint): Point {
  return { X: x, Y: y, Z: 1n, T: reduce(x * y) };
}

/** The point with this y and this parity of x, or undefined where the curve has none. */
function fromAffineY(y: bigint, odd: boolean): Point | undefined {
  const ySquared = reduce(y * y);
  const x = squareRoot((ySquared - 1n) * invert(D * ySquared + 1n)); // d is no square: the denominator is never 0
  if (x === undefined || (x === 0n && odd)) return undefined;
  return fromAffine(isOdd(x) === odd ? x : P - x, y);
}

/** Decodes 32 bytes; undefined unless they are the one canonical encoding of a point. Source: `ge_frombytes_vartime`. */
export function decodePoint(bytes: Uint8Array): Point | undefined {
  const encoded = readInteger(bytes);
  const y = encoded & (SIGN_BIT - 1n);
  return y < P ? fromAffineY(y, (encoded & SIGN_BIT) !== 0n) : undefined;
}

export function encodePoint({ X, Y, Z }: Point): Uint8Array {
  const inverse = invert(Z);
  const x = reduce(X * inverse);
  return writeInteger(reduce(Y * inverse) | (isOdd(x) ? SIGN_BIT : 0n));
}

export function add(p: Point, q: Point): Point {
  const a = (p.Y - p.X) * (q.Y - q.X);
  const b = (p.Y + p.X) * (q.Y + q.X);
  const c = reduce(2n * D * p.T) * q.T;
  const d = 2n * p.Z * q.Z;
  const e = reduce(b - a);
  const f = reduce(d - c);
  const g = reduce(d + c);
  const h = reduce(b + a);
  return { X: reduce(e * f), Y: reduce(g * h), Z: reduce(f * g), T: reduce(e * h) };
}

export function negate({ X, Y, Z, T }: Point): Point {
  return { X: reduce(-X), Y, Z, T: reduce(-T) };
}

export function isIdentity({ X, Y, Z }: Point): boolean {
  return X === 0n && Y === Z;
}

/** k·P by doubling and adding; takes a time that depends on k. */
export function multiplyVartime(k: bigint, point: Point): Point {
  let sum = IDENTITY;
  let power = point;
  for (let rest = k; rest > 0n; rest >>= 1n) {
    if (rest & 1n) sum = add(sum, power);
    power = add(power, power);
  }
  return sum;
}

export type Term = { readonly k: bigint; readonly point: Point };

/** Σ kᵢ·Pᵢ for kᵢ < 2²⁵⁶; takes a time that depends on the kᵢ. */
export function multiexpVartime(terms: readonly Term[]): Point {
  return terms.length < 16 ? sumByBits(terms) : sumByBuckets(terms);
}

/** All terms share the doublings. Source: Straus 1964. */
function sumByBits(terms: readonly Term[]): Point {
  let sum = IDENTITY;
  for (let bit = 255n; bit >= 0n; bit--) {
    sum = add(sum, sum);
    for (const { k, point } of terms) if ((k >> bit) & 1n) sum = add(sum, point);
  }
  return sum;
}

/** Five bits at a time: points with the same digit are added first, then weighted together. Source: Pippenger 1976. */
function sumByBuckets(terms: readonly Term[]): Point {
  let sum = IDENTITY;
  for (let bit = 255n; bit >= 0n; bit -= 5n) {
    const buckets = new Array<Point>(32).fill(IDENTITY);
    for (const { k, point } of terms) {
      const digit = Number((k >> bit) & 31n);
      buckets[digit] = add(buckets[digit]!, point);
    }
    let running = IDENTITY;
    let weighted = IDENTITY; // Σ digit·bucket
    for (let digit = 31; digit > 0; digit--) {
      running = add(running, buckets[digit]!);
      weighted = add(weighted, running);
    }
    for (let i = 0; i < 5; i++) sum = add(sum, sum);
    sum = add(sum, weighted);
  }
  return sum;
}
