import type { Backend } from "../backend.ts";
import { checkLength, countElements } from "../bytes.ts";
import type { Kernel, Pointer } from "./kernel.ts";
import type { Memory } from "./memory.ts";

type PointFunctions = Pick<
  Backend,
  | "isPoint"
  | "areInMainSubgroup"
  | "pointAdd"
  | "pointSub"
  | "pointNegate"
  | "pointSum"
  | "mulBy8"
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
>;

const IDENTITY = Uint8Array.of(1, ...new Uint8Array(31));

/** Throws `RangeError` unless every scalar of the vector is below 2^255, as point multiplication needs. */
export function checkFactors(scalars: Uint8Array): number {
  const n = countElements("scalars", scalars);
  for (let top = 31; top < scalars.length; top += 32) {
    if (scalars[top]! >= 128) throw new RangeError("a scalar that multiplies a point must be below 2^255");
  }
  return n;
}

/** Size of a result that the kernel writes in pairs. */
export function pairedLength(n: number): number {
  return 32 * (n + (n & 1));
}

/** Point functions of the kernel. */
export function createPointFunctions(kernel: Kernel, memory: Memory): PointFunctions {
  /** A result of 32 bytes, undefined where the kernel meets an invalid point. */
  const compute = (
    points: readonly Uint8Array[],
    call: (out: Pointer, ...at: Pointer[]) => number,
  ): Uint8Array | undefined => {
    for (const point of points) checkLength("point", point, 32);
    memory.begin();
    const out = memory.room(32);
    return call(out, ...points.map(memory.put)) ? memory.read(out, 32) : undefined;
  };
  return {
    isPoint(point) {
      checkLength("point", point, 32);
      memory.begin();
      return kernel.isPoint(memory.put(point)) === 1;
    },
    areInMainSubgroup(points) {
      const n = countElements("points", points);
      memory.begin();
      const verdicts = memory.room(n);
      kernel.areInMainSubgroup(verdicts, memory.put(points), n);
      return memory.read(verdicts, n);
    },
    pointAdd: (p, q) => compute([p, q], (out, at, by) => kernel.pointAdd(out, at, by, 0)),
    pointSub: (p, q) => compute([p, q], (out, at, by) => kernel.pointAdd(out, at, by, 1)),
    pointNegate: (p) => compute([IDENTITY, p], (out, at, by) => kernel.pointAdd(out, at, by, 1)),
    mulBy8: (p) => compute([p], kernel.multiplyBy8),
    pointSum(points) {
      const n = countElements("points", points);
      return compute([], (out) => kernel.pointSum(out, memory.put(points), n));
    },
    scalarMult(scalars, points) {
      const n = checkFactors(scalars);
      if (points.length !== scalars.length) throw new RangeError("as many points as scalars expected");
      memory.begin();
      try {
        const out = memory.room(pairedLength(n));
        const isDone = kernel.scalarMultPoints(out, memory.put(scalars), memory.put(points), n);
        return isDone ? memory.read(out, 32 * n) : undefined;
      } finally {
        kernel.wipe();
      }
    },
    shareSecret({ secret, nonces, points }) {
      checkLength("secret", secret, 32);
      checkFactors(secret);
      const n = checkFactors(nonces);
      if (points.length !== nonces.length) throw new RangeError("as many points as nonces expected");
      const half = pairedLength(n);
      memory.begin();
      try {
        const out = memory.room(4 * half);
        const [s, t, P] = [memory.put(secret), memory.put(nonces), memory.put(points)];
        if (!kernel.shareSecret(out, s, t, P, n)) return undefined;
        const vector = (i: number) => memory.read(out + i * half, 32 * n);
        return { D: vector(0), derivations: vector(1), X: vector(2), Y: vector(3) };
      } finally {
        kernel.wipe();
      }
    },
    scalarMultHashed(scalars, data) {
      const n = checkFactors(scalars);
      if (data.length !== scalars.length) throw new RangeError("as many inputs as scalars expected");
      memory.begin();
      try {
        const out = memory.room(pairedLength(n));
        kernel.scalarMultHashed(out, memory.put(scalars), memory.put(data), n);
        return memory.read(out, 32 * n);
      } finally {
        kernel.wipe();
      }
    },
    commitTwice(scalars, data) {
      const n = checkFactors(scalars);
      if (data.length !== scalars.length) throw new RangeError("as many inputs as scalars expected");
      const half = pairedLength(n);
      memory.begin();
      try {
        const out = memory.room(2 * half);
        kernel.commitTwice(out, memory.put(scalars), memory.put(data), n);
        return { L: memory.read(out, 32 * n), R: memory.read(out + half, 32 * n) };
      } finally {
        kernel.wipe();
      }
    },
    scalarMultBase(scalars) {
      const n = checkFactors(scalars);
      memory.begin();
      try {
        const out = memory.room(pairedLength(n));
        kernel.scalarMultBase(out, memory.put(scalars), n);
        return memory.read(out, 32 * n);
      } finally {
        kernel.wipe();
      }
    },
    doubleScalarMultVartime({ a, A, b, B }) {
      const n = checkFactors(a);
      checkFactors(b);
      if (![A, b, B].every(({ length }) => length === a.length)) {
        throw new RangeError("terms of different lengths");
      }
      memory.begin();
      const out = memory.room(pairedLength(n));
      const [aAt, AAt, bAt, BAt] = [memory.put(a), memory.put(A), memory.put(b), memory.put(B)];
      return kernel.doubleScalarMultBatch(out, aAt, AAt, bAt, BAt, n) ? memory.read(out, 32 * n) : undefined;
    },
    twinScalarMultVartime({ a, A, b, B }) {
      const n = checkFactors(a);
      checkFactors(b);
      if (b.length !== a.length || ![A, B].every(({ length }) => length === 2 * a.length)) {
        throw new RangeError("terms of different lengths");
      }
      memory.begin();
      const out = memory.room(64 * n);
      const [aAt, AAt, bAt, BAt] = [memory.put(a), memory.put(A), memory.put(b), memory.put(B)];
      return kernel.twinScalarMult(out, aAt, AAt, bAt, BAt, n) ? memory.read(out, 64 * n) : undefined;
    },
    foldVartime({ a, A, b, B }) {
      const n = countElements("points", A);
      if (B.length !== A.length) throw new RangeError("terms of different lengths");
      for (const scalar of [a, b]) {
        checkLength("scalar", scalar, 32);
        checkFactors(scalar);
      }
      memory.begin();
      const out = memory.room(pairedLength(n));
      const [aAt, AAt, bAt, BAt] = [memory.put(a), memory.put(A), memory.put(b), memory.put(B)];
      return kernel.foldPoints(out, aAt, AAt, bAt, BAt, n) ? memory.read(out, 32 * n) : undefined;
    },
    commitVartime(amounts, mask) {
      const { buffer, byteOffset, byteLength, length: n } = amounts;
      memory.begin();
      const out = memory.room(pairedLength(n));
      kernel.commitAmounts(out, memory.put(new Uint8Array(buffer, byteOffset, byteLength)), mask, n);
      return memory.read(out, 32 * n);
    },
    hashToPoint(data) {
      const n = countElements("data", data);
      memory.begin();
      const out = memory.room(pairedLength(n));
      kernel.hashToPoints(out, memory.put(data), n);
      return memory.read(out, 32 * n);
    },
  };
}
