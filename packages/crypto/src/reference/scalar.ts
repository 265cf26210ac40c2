import type { ScalarOps, ScalarVectorOps } from "../backend.ts";
import { checkLength, concatBytes, countElements, elementsOf } from "../bytes.ts";
import { powerModulo, readInteger, writeInteger } from "./integers.ts";

/** The prime order ℓ of the base point. Source: RFC 7748 §4.1. */
export const GROUP_ORDER = 2n ** 252n + 27742317777372353535851937790883648493n;

/** The representative in 0 … ℓ − 1. */
export function modOrder(value: bigint): bigint {
  const rest = value % GROUP_ORDER;
  return rest < 0n ? rest + GROUP_ORDER : rest;
}

/** 1/value mod ℓ; 0 for 0. */
export function invertModOrder(value: bigint): bigint {
  return powerModulo(modOrder(value), GROUP_ORDER - 2n, GROUP_ORDER);
}

export function readScalar(bytes: Uint8Array): bigint {
  checkLength("scalar", bytes, 32);
  return readInteger(bytes);
}

export function writeScalar(value: bigint): Uint8Array {
  return writeInteger(modOrder(value));
}

export const scalar: ScalarOps = {
  reduce32: (bytes) => writeScalar(readScalar(bytes)),
  reduce64(bytes) {
    checkLength("wide scalar", bytes, 64);
    return writeScalar(readInteger(bytes));
  },
  add: (a, b) => writeScalar(readScalar(a) + readScalar(b)),
  sub: (a, b) => writeScalar(readScalar(a) - readScalar(b)),
  mul: (a, b) => writeScalar(readScalar(a) * readScalar(b)),
  mulAdd: (a, b, c) => writeScalar(readScalar(a) * readScalar(b) + readScalar(c)),
  mulSub: (a, b, c) => writeScalar(readScalar(c) - readScalar(a) * readScalar(b)),
  invert: (a) => writeScalar(invertModOrder(readScalar(a))),
  isCanonical: (a) => readScalar(a) < GROUP_ORDER,
};

export function readScalars(vector: Uint8Array): bigint[] {
  countElements("scalars", vector);
  return elementsOf(vector).map(readInteger);
}

function writeScalars(values: readonly bigint[]): Uint8Array {
  return concatBytes(...values.map(writeScalar));
}

function zip(a: Uint8Array, b: Uint8Array, combine: (x: bigint, y: bigint) => bigint): bigint[] {
  if (a.length !== b.length) throw new RangeError("vectors of different lengths");
  const right = readScalars(b);
  return readScalars(a).map((x, i) => combine(x, right[i]!));
}

export const vector: ScalarVectorOps = {
  add: (a, b) => writeScalars(zip(a, b, (x, y) => x + y)),
  sub: (a, b) => writeScalars(zip(a, b, (x, y) => x - y)),
  mul: (a, b) => writeScalars(zip(a, b, (x, y) => x * y)),
  scale(a, x) {
    const factor = readScalar(x);
    return writeScalars(readScalars(a).map((value) => value * factor));
  },
  scaleAdd(a, x, b) {
    const factor = readScalar(x);
    return writeScalars(zip(a, b, (left, right) => left * factor + right));
  },
  powers: (x, n) => writeScalars(powersOf(readScalar(x), n)),
  innerProduct: (a, b) => writeScalar(zip(a, b, (x, y) => x * y).reduce((sum, term) => sum + term, 0n)),
  invert(a) {
    const values = readScalars(a);
    if (values.some((value) => modOrder(value) === 0n)) throw new RangeError("zero has no inverse");
    return writeScalars(values.map(invertModOrder));
  },
};

/** 1, x, x² … x^(n−1) mod ℓ. */
export function powersOf(x: bigint, n: number): bigint[] {
  const powers: bigint[] = [];
  for (let power = 1n; powers.length < n; power = modOrder(power * x)) powers.push(power);
  return powers;
}
