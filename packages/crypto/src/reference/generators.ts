import type { GeneratorFamily } from "../backend.ts";
import { asciiBytes, concatBytes, varint } from "../bytes.ts";
import { once } from "../once.ts";
import { fieldToPoint } from "./hash-to-point.ts";
import { keccak256 } from "./keccak.ts";
import { basePoint, decodePoint, encodePoint, multiplyVartime, type Point } from "./point.ts";

/** The second generator, for amounts: 8 times the point that keccak256(G) encodes. Source: rctTypes.h `H`. */
export const amountGenerator: () => Point = once(() =>
  multiplyVartime(8n, decodePoint(keccak256(encodePoint(basePoint())))!),
);

/** 16 outputs of 64 bits, two generators a bit. */
const MAX_GENERATORS = 2 * 16 * 64;

const generated: Record<GeneratorFamily, Point[]> = { bulletproof: [], bulletproof_plus: [] };

/** The first `count` generators of a family: index 2i is Hᵢ, 2i + 1 is Gᵢ. Source: bulletproofs_plus.cc `get_exponent`. */
export function rangeProofGenerators(family: GeneratorFamily, count: number): Point[] {
  if (count > MAX_GENERATORS)
    throw new RangeError(`there are ${MAX_GENERATORS} generators, ${count} asked for`);
  const cached = generated[family];
  const base = encodePoint(amountGenerator());
  for (let index = cached.length; index < count; index++) {
    const seed = keccak256(concatBytes(base, asciiBytes(family), varint(index)));
    cached.push(multiplyVartime(8n, fieldToPoint(keccak256(seed))));
  }
  return cached.slice(0, count);
}
