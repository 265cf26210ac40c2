import { randomBytes } from "node:crypto";

/** Returns fresh random bytes. */
export type RandomSource = (size: number) => Uint8Array;

export const systemRandom: RandomSource = (size) => new Uint8Array(randomBytes(size));

/** A number of 64 random bits. */
export function random64(random: RandomSource): bigint {
  return new DataView(random(8).slice().buffer).getBigUint64(0, true);
}

/** A whole number below `count`, all equally likely (to one part in 2^20 or better, for lists); 0 if `count` is 0. */
export function chooseIndex(count: number, random: RandomSource): number {
  const number = new DataView(random(8).slice().buffer).getBigUint64(0, true);
  return count === 0 ? 0 : Number(number % BigInt(count));
}

/** `count` elements of a list, chosen at random and in random order (Fisher and Yates). */
export function sample<T>(list: readonly T[], count: number, random: RandomSource): T[] {
  const rest = [...list];
  const size = Math.min(count, rest.length);
  for (let i = 0; i < size; i++) {
    const j = i + chooseIndex(rest.length - i, random);
    [rest[i], rest[j]] = [rest[j]!, rest[i]!];
  }
  return rest.slice(0, size);
}
