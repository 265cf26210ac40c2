import type { ScalarOps, ScalarVectorOps } from "../backend.ts";
import { checkLength, countElements } from "../bytes.ts";
import type { Kernel, Pointer } from "./kernel.ts";
import type { Memory } from "./memory.ts";

/** Scalar functions of the kernel; operands and intermediate values are wiped after every call. */
export function createScalarOps(kernel: Kernel, memory: Memory): ScalarOps {
  /** Places 32-byte operands, calls, reads 32 bytes. */
  const compute = (
    operands: readonly Uint8Array[],
    call: (out: Pointer, ...at: Pointer[]) => void,
  ): Uint8Array => {
    for (const operand of operands) checkLength("scalar", operand, 32);
    memory.begin();
    try {
      const out = memory.room(32);
      call(out, ...operands.map(memory.put));
      return memory.read(out, 32);
    } finally {
      kernel.wipeScalars();
    }
  };
  return {
    reduce32: (a) => compute([a], kernel.scReduce32),
    reduce64(a) {
      checkLength("wide scalar", a, 64);
      return compute([], (out) => kernel.scReduce64(out, memory.put(a)));
    },
    add: (a, b) => compute([a, b], kernel.scAdd),
    sub: (a, b) => compute([a, b], kernel.scSub),
    mul: (a, b) => compute([a, b], kernel.scMul),
    mulAdd: (a, b, c) => compute([a, b, c], kernel.scMulAdd),
    mulSub: (a, b, c) => compute([a, b, c], kernel.scMulSub),
    invert: (a) => compute([a], kernel.scInvert),
    isCanonical(a) {
      checkLength("scalar", a, 32);
      memory.begin();
      try {
        return kernel.scIsCanonical(memory.put(a)) === 1;
      } finally {
        kernel.wipeScalars();
      }
    },
  };
}

/** Vector functions of the kernel; one crossing a call, wiped after it. */
export function createVectorOps(kernel: Kernel, memory: Memory): ScalarVectorOps {
  /** Number of elements of vectors that must have the same length. */
  const sameCount = (a: Uint8Array, b: Uint8Array): number => {
    if (a.length !== b.length) throw new RangeError("vectors of different lengths");
    return countElements("scalars", a);
  };
  const compute = (length: number, call: (out: Pointer) => void): Uint8Array => {
    memory.begin();
    try {
      const out = memory.room(length);
      call(out);
      return memory.read(out, length);
    } finally {
      kernel.wipeScalars();
    }
  };
  const elementWise =
    (call: Kernel["vectorAdd"]) =>
    (a: Uint8Array, b: Uint8Array): Uint8Array => {
      const n = sameCount(a, b);
      return compute(a.length, (out) => call(out, memory.put(a), memory.put(b), n));
    };
  return {
    add: elementWise(kernel.vectorAdd),
    sub: elementWise(kernel.vectorSub),
    mul: elementWise(kernel.vectorMul),
    scale(a, x) {
      checkLength("factor", x, 32);
      const n = countElements("scalars", a);
      return compute(a.length, (out) => kernel.vectorScale(out, memory.put(a), memory.put(x), n));
    },
    scaleAdd(a, x, b) {
      checkLength("factor", x, 32);
      const n = sameCount(a, b);
      return compute(a.length, (out) =>
        kernel.vectorScaleAdd(out, memory.put(a), memory.put(x), memory.put(b), n),
      );
    },
    powers(x, n) {
      checkLength("scalar", x, 32);
      return compute(32 * n, (out) => kernel.powers(out, memory.put(x), n));
    },
    innerProduct(a, b) {
      const n = sameCount(a, b);
      return compute(32, (out) => kernel.innerProduct(out, memory.put(a), memory.put(b), n));
    },
    invert(a) {
      const n = countElements("scalars", a);
      return compute(a.length, (out) => {
        if (!kernel.invertBatch(out, memory.put(a), n)) throw new RangeError("zero has no inverse");
      });
    },
  };
}
