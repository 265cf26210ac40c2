/** The group functions of the backend, on encoded points. */
import type { Backend, DoubleScalarMultTerms, MultiexpTerms } from "../backend.ts";
import { checkLength, concatBytes, countElements, elementsOf, repeatElement } from "../bytes.ts";
import { amountGenerator, rangeProofGenerators } from "./generators.ts";
import { fieldToPoint } from "./hash-to-point.ts";
import { readInteger, writeInteger } from "./integers.ts";
import { keccak256 } from "./keccak.ts";
import {
  add,
  basePoint,
  decodePoint,
  encodePoint,
  IDENTITY,
  isIdentity,
  multiexpVartime,
  multiplyVartime,
  negate,
  type Point,
} from "./point.ts";
import { GROUP_ORDER } from "./scalar.ts";

type GroupFunctions = Pick<
  Backend,
  | "isPoint"
  | "areInMainSubgroup"
  | "pointAdd"
  | "pointSub"
  | "pointNegate"
  | "mulBy8"
  | "pointSum"
  | "scalarMult"
  | "shareSecret"
  | "scalarMultHashed"
  | "commitTwice"
  | "scalarMultBase"
  | "doubleScalarMultVartime"
  | "twinScalarMultVartime"
  | "foldVartime"
  | "commitVartime"
  | "hashToPoint"
  | "multiexp"
  | "multiexpVartime"
>;

/** The point, or undefined; throws `RangeError` unless it has 32 bytes. */
export function readPoint(bytes: Uint8Array): Point | undefined {
  checkLength("point", bytes, 32);
  return decodePoint(bytes);
}

/** All points of a vector, or undefined where one of them does not decode. */
export function readPoints(vector: Uint8Array): Point[] | undefined {
  countElements("points", vector);
  const points = elementsOf(vector).map(decodePoint);
  return points.every((point) => point !== undefined) ? points : undefined;
}

/** A scalar as the factor of a point: the integer itself, below 2²⁵⁵. */
export function readFactor(bytes: Uint8Array): bigint {
  checkLength("scalar", bytes, 32);
  const factor = readInteger(bytes);
  if (factor >= 2n ** 255n) throw new RangeError("a scalar that multiplies a point must be below 2^255");
  return factor;
}

function readFactors(vector: Uint8Array): bigint[] {
  countElements("scalars", vector);
  return elementsOf(vector).map(readFactor);
}

/** Decodes all, computes, encodes; undefined where a point does not decode. */
function onPoints(
  encoded: readonly Uint8Array[],
  compute: (...points: Point[]) => Point,
): Uint8Array | undefined {
  const points = encoded.map(readPoint);
  return points.every((point) => point !== undefined) ? encodePoint(compute(...points)) : undefined;
}

/** 8·elligator(keccak256(data)). Source: crypto.cpp `hash_to_ec`. */
export function hashToGroup(data: Uint8Array): Point {
  return multiplyVartime(8n, fieldToPoint(keccak256(data)));
}

function doubleScalarMult({ a, A, b, B }: DoubleScalarMultTerms): Uint8Array | undefined {
  if (![A, b, B].every(({ length }) => length === a.length))
    throw new RangeError("terms of different lengths");
  const [leftFactors, rightFactors] = [readFactors(a), readFactors(b)];
  const [left, right] = [readPoints(A), readPoints(B)];
  if (left === undefined || right === undefined) return undefined;
  const sums = leftFactors.map((k, i) =>
    multiexpVartime([
      { k, point: left[i]! },
      { k: rightFactors[i]!, point: right[i]! },
    ]),
  );
  return concatBytes(...sums.map(encodePoint));
}

function multiexp({ scalars, points, generators }: MultiexpTerms): Uint8Array | undefined {
  if (scalars.length !== points.length) throw new RangeError("as many scalars as points expected");
  const bases = readPoints(points);
  const generatorFactors = readFactors(generators?.scalars ?? new Uint8Array());
  const factors = [...readFactors(scalars), ...generatorFactors];
  if (bases === undefined) return undefined;
  if (generators) bases.push(...rangeProofGenerators(generators.family, generatorFactors.length));
  return encodePoint(multiexpVartime(factors.map((k, i) => ({ k, point: bases[i]! }))));
}

function scalarMult(scalars: Uint8Array, points: Uint8Array): Uint8Array | undefined {
  const factors = readFactors(scalars);
  if (points.length !== scalars.length) throw new RangeError("as many points as scalars expected");
  const bases = readPoints(points);
  return bases && concatBytes(...factors.map((k, i) => encodePoint(multiplyVartime(k, bases[i]!))));
}

function scalarMultBase(scalars: Uint8Array): Uint8Array {
  return concatBytes(...readFactors(scalars).map((k) => encodePoint(multiplyVartime(k, basePoint()))));
}

function hashToPoint(data: Uint8Array): Uint8Array {
  countElements("data", data);
  return concatBytes(...elementsOf(data).map((item) => encodePoint(hashToGroup(item))));
}

export const group: GroupFunctions = {
  isPoint: (point) => readPoint(point) !== undefined,
  areInMainSubgroup(points) {
    countElements("points", points);
    return Uint8Array.from(elementsOf(points), (point) => {
      const decoded = decodePoint(point);
      return decoded !== undefined && isIdentity(multiplyVartime(GROUP_ORDER, decoded)) ? 1 : 0;
    });
  },
  pointAdd: (p, q) => onPoints([p, q], add),
  pointSub: (p, q) => onPoints([p, q], (left, right) => add(left, negate(right))),
  pointNegate: (p) => onPoints([p], negate),
  mulBy8: (p) => onPoints([p], (point) => multiplyVartime(8n, point)),
  pointSum(vector) {
    const points = readPoints(vector);
    return points && encodePoint(points.reduce(add, IDENTITY));
  },
  scalarMult,
  shareSecret({ secret, nonces, points }) {
    checkLength("secret", secret, 32);
    const n = countElements("points", points);
    const D = scalarMult(repeatElement(secret, n), points);
    const Y = scalarMult(nonces, points);
    const derivations = D && scalarMult(repeatElement(writeInteger(8n), n), D);
    return D && derivations && Y && { D, derivations, X: scalarMultBase(nonces), Y };
  },
  commitTwice: (scalars, data) => ({
    L: scalarMultBase(scalars),
    R: scalarMult(scalars, hashToPoint(data))!,
  }),
  scalarMultHashed: (scalars, data) => scalarMult(scalars, hashToPoint(data))!,
  scalarMultBase,
  doubleScalarMultVartime: doubleScalarMult,
  twinScalarMultVartime({ a, A, b, B }) {
    if (b.length !== a.length) throw new RangeError("terms of different lengths");
    countElements("scalars", a);
    const twice = (scalars: Uint8Array) =>
      concatBytes(...elementsOf(scalars).flatMap((scalar) => [scalar, scalar]));
    return doubleScalarMult({ a: twice(a), A, b: twice(b), B });
  },
  foldVartime({ a, A, b, B }) {
    const n = countElements("points", A);
    for (const factor of [a, b]) checkLength("scalar", factor, 32);
    return doubleScalarMult({ a: repeatElement(a, n), A, b: repeatElement(b, n), B });
  },
  commitVartime(amounts, mask) {
    const start = mask === 1 ? basePoint() : IDENTITY;
    return concatBytes(
      ...Array.from(amounts, (amount) => encodePoint(add(start, multiplyVartime(amount, amountGenerator())))),
    );
  },
  hashToPoint,
  multiexp,
  multiexpVartime: multiexp,
};
