import {
  G,
  H,
  hashToPoint,
  hashToScalar,
  keccak256,
  pointAdd,
  pointSum,
  type RandomSource,
  randomScalar,
  scalarMult,
} from "@anulo/crypto";
import { type Bulletproof, Writer } from "@anulo/protocol";
import { fromBytes, inverse, inverseOfEight, mod, toBytes } from "./scalars.ts";

const bits = 64;

/** Gens of the original: H's are those of even number. Source: bulletproofs.cc `get_exponent`. */
const generators = new Map<number, Uint8Array>();
function generator(index: number): Uint8Array {
  const known = generators.get(index);
  if (known !== undefined) return known;
  const number = new Writer(8);
  number.writeVarint(index);
  const point = hashToPoint(keccak256(H, Buffer.from("bulletproof"), number.finish()));
  generators.set(index, point);
  return point;
}

type Term = readonly [scalar: bigint, point: Uint8Array];

/** Σ scalar·point / 8. */
function eighth(terms: readonly Term[]): Uint8Array {
  const points = terms
    .filter(([scalar]) => mod(scalar) !== 0n)
    .map(([scalar, point]) => scalarMult(toBytes(scalar * inverseOfEight), point));
  return pointSum(points);
}

const dot = (a: readonly bigint[], b: readonly bigint[]) =>
  mod(a.reduce((sum, value, i) => sum + value * b[i]!, 0n));
const challengeOf = (...parts: Uint8Array[]) => fromBytes(hashToScalar(...parts));

/**
 * One Bulletproof for several amounts, as RCT types 3 to 5 have it.
 * Source: https://eprint.iacr.org/2017/1066; bulletproofs.cc (transcript, scaling by 1/8).
 */
export function proveBulletproof(
  amounts: readonly bigint[],
  masks: readonly Uint8Array[],
  random: RandomSource,
): Bulletproof {
  const padded = 2 ** Math.ceil(Math.log2(amounts.length));
  const size = bits * padded;
  const range = Array.from({ length: size }, (_, i) => i);
  const nextScalar = () => fromBytes(randomScalar(random));
  const aL = range.map((i) => ((amounts[Math.floor(i / bits)] ?? 0n) >> BigInt(i % bits)) & 1n);
  const aR = aL.map((bit) => bit - 1n);
  const [sL, sR] = [range.map(nextScalar), range.map(nextScalar)];
  const [alpha, rho] = [nextScalar(), nextScalar()];
  const commitTo = (left: readonly bigint[], right: readonly bigint[], blind: bigint) =>
    eighth([
      ...range.flatMap((i): Term[] => [
        [right[i]!, generator(2 * i)],
        [left[i]!, generator(2 * i + 1)],
      ]),
      [blind, G],
    ]);
  const V = amounts.map((amount, i) =>
    eighth([
      [fromBytes(masks[i]!), G],
      [amount, H],
    ]),
  );
  const A = commitTo(aL, aR, alpha);
  const S = commitTo(sL, sR, rho);
  const y = challengeOf(hashToScalar(...V), A, S);
  const z = challengeOf(toBytes(y));
  const yPowers = powers(y, size);
  const zPowers = powers(z, padded + 2);
  const l0 = aL.map((bit) => mod(bit - z));
  const r0 = aR.map((bit, i) => {
    const weight = zPowers[2 + Math.floor(i / bits)]! * 2n ** BigInt(i % bits);
    return mod(yPowers[i]! * (bit + z) + weight);
  });
  const r1 = sR.map((value, i) => mod(yPowers[i]! * value));
  const [tau1, tau2] = [nextScalar(), nextScalar()];
  const T1 = eighth([
    [dot(l0, r1) + dot(sL, r0), H],
    [tau1, G],
  ]);
  const T2 = eighth([
    [dot(sL, r1), H],
    [tau2, G],
  ]);
  const x = challengeOf(toBytes(z), toBytes(z), T1, T2);
  const blinds = masks.reduce((sum, mask, j) => sum + zPowers[j + 2]! * fromBytes(mask), 0n);
  const taux = toBytes(tau1 * x + tau2 * x * x + blinds);
  const mu = toBytes(alpha + x * rho);
  const a = l0.map((value, i) => mod(value + sL[i]! * x));
  const b = r0.map((value, i) => mod(value + r1[i]! * x));
  const t = toBytes(dot(a, b));
  const xInner = challengeOf(toBytes(x), toBytes(x), taux, mu, t);
  const inner = proveInnerProduct({ a, b, xInner, y });
  return { A, S, T1, T2, taux, mu, ...inner, t };
}

type Vectors = { a: bigint[]; b: bigint[]; xInner: bigint; y: bigint };

function proveInnerProduct({ a, b, xInner, y }: Vectors) {
  const yInverses = powers(inverse(y), a.length);
  let Gs = a.map((_, i) => generator(2 * i + 1));
  let Hs = b.map((_, i) => scalarMult(toBytes(yInverses[i]!), generator(2 * i)));
  let transcript = toBytes(xInner);
  const [L, R]: [Uint8Array[], Uint8Array[]] = [[], []];
  while (a.length > 1) {
    const half = a.length / 2;
    const cross = (left: readonly bigint[], right: readonly bigint[], points: [Uint8Array[], Uint8Array[]]) =>
      eighth([
        ...left.map((value, i): Term => [value, points[0][i]!]),
        ...right.map((value, i): Term => [value, points[1][i]!]),
        [dot(left, right) * xInner, H],
      ]);
    L.push(cross(a.slice(0, half), b.slice(half), [Gs.slice(half), Hs.slice(0, half)]));
    R.push(cross(a.slice(half), b.slice(0, half), [Gs.slice(0, half), Hs.slice(half)]));
    transcript = hashToScalar(transcript, L.at(-1)!, R.at(-1)!);
    const w = fromBytes(transcript);
    const v = inverse(w);
    Gs = foldPoints(Gs, v, w);
    Hs = foldPoints(Hs, w, v);
    a = fold(a, w, v);
    b = fold(b, v, w);
  }
  return { L, R, a: toBytes(a[0]!), b: toBytes(b[0]!) };
}

function fold(values: readonly bigint[], low: bigint, high: bigint): bigint[] {
  const half = values.length / 2;
  return values.slice(0, half).map((value, i) => mod(value * low + values[half + i]! * high));
}

function foldPoints(points: readonly Uint8Array[], low: bigint, high: bigint): Uint8Array[] {
  const half = points.length / 2;
  return points
    .slice(0, half)
    .map((point, i) =>
      pointAdd(scalarMult(toBytes(low), point), scalarMult(toBytes(high), points[half + i]!)),
    );
}

function powers(base: bigint, count: number): bigint[] {
  const list = [1n];
  while (list.length < count) list.push(mod(list.at(-1)! * base));
  return list;
}
