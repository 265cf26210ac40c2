import type { Backend, GeneratorFamily, MultiexpTerms } from "../backend.ts";
import type { Kernel } from "./kernel.ts";
import type { Memory } from "./memory.ts";
import { checkFactors } from "./points.ts";

/** 64 bits × 16 outputs × 2. */
const MAX_GENERATORS = 2048;

/** Far more than any proof has; secret terms take 1.3 KB each while they are summed. */
const MAX_TERMS = 2 ** 16;

const familyNumbers: Readonly<Record<GeneratorFamily, number>> = { bulletproof: 0, bulletproof_plus: 1 };

function checkGeneratorCount(count: number): void {
  if (!Number.isInteger(count) || count < 0 || count > MAX_GENERATORS) {
    throw new RangeError(`0 to ${MAX_GENERATORS} generators expected, not ${count}`);
  }
}

/** Multi-exponentiation and the range proof generators. */
export function createMultiexpFunctions(
  kernel: Kernel,
  memory: Memory,
): Pick<Backend, "multiexp" | "multiexpVartime" | "generators"> {
  /** Encodings that were computed before, per family: hashing to a point again would cost 4 µs each. */
  const tables: Partial<Record<GeneratorFamily, Uint8Array>> = {};
  const compute = (
    { scalars, points, generators }: MultiexpTerms,
    call: Kernel["multiexp"],
  ): Uint8Array | undefined => {
    if (scalars.length !== points.length) throw new RangeError("as many scalars as points expected");
    const n = checkFactors(scalars);
    const generatorScalars = generators?.scalars ?? new Uint8Array();
    const m = checkFactors(generatorScalars);
    checkGeneratorCount(m);
    if (n > MAX_TERMS) throw new RangeError(`${n} terms are more than ${MAX_TERMS}`);
    memory.begin();
    const out = memory.room(32);
    const all = memory.put(scalars);
    memory.put(generatorScalars); // a multiple of 32 bytes is followed without a gap
    const family = familyNumbers[generators?.family ?? "bulletproof_plus"];
    return call(out, all, memory.put(points), n, m, family) ? memory.read(out, 32) : undefined;
  };
  return {
    multiexpVartime: (terms) => compute(terms, kernel.multiexpVartime),
    multiexp(terms) {
      try {
        return compute(terms, kernel.multiexp);
      } finally {
        kernel.wipe();
      }
    },
    generators(family, count) {
      checkGeneratorCount(count);
      if ((tables[family]?.length ?? 0) < 32 * count) {
        const pairs = Math.ceil(count / 2);
        memory.begin();
        const out = memory.room(64 * pairs);
        kernel.generatorEncodings(out, familyNumbers[family], pairs);
        tables[family] = memory.read(out, 64 * pairs);
      }
      return tables[family]?.slice(0, 32 * count) ?? new Uint8Array();
    },
  };
}
