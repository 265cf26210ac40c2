/** A source of numbers that are known, for choices that are known then, too. */
import assert from "node:assert/strict";
import type { RandomSource } from "@anulo/crypto";

/** Gives these numbers, eight bytes each, from the most significant byte on; it fails once there are no more. */
export function sourceOf(...numbers: readonly bigint[]): RandomSource & { left(): number } {
  const rest = [...numbers];
  const source: RandomSource = (size) => {
    assert.equal(size, 8);
    return bytesOf(rest.shift() ?? assert.fail("no number is left"));
  };
  return Object.assign(source, { left: () => rest.length });
}

export function bytesOf(...numbers: readonly bigint[]): Uint8Array {
  const bytes = Buffer.alloc(8 * numbers.length);
  for (const [i, number] of numbers.entries()) bytes.writeBigUInt64BE(number, 8 * i);
  return bytes;
}

/** The number of which `randomReal` makes this one, from 0 to below 1. */
export const ofReal = (real: number): bigint => BigInt(real * 2 ** 53) << 11n;
