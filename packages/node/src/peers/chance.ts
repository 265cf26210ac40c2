import type { RandomSource } from "@anulo/crypto";

/** A whole number from 0 to below `end`, all equally likely; `end` is at most 2^32. */
export function randomBelow(end: number, random: RandomSource): number {
  const fair = 2 ** 32 - (2 ** 32 % end);
  for (;;) {
    const value = Buffer.from(random(4)).readUInt32LE();
    if (value < fair) return value % end;
  }
}

/** A number from 0 to below 1. */
function randomUnit(random: RandomSource): number {
  const bytes = Buffer.from(random(8));
  return (bytes.readUInt32LE(0) * 2 ** 21 + (bytes.readUInt32LE(4) >>> 11)) / 2 ** 53;
}

/** Number of random events in a time in which `mean` are expected; mean is at most 500. */
export function poisson(mean: number, random: RandomSource): number {
  const limit = Math.exp(-mean);
  let product = randomUnit(random);
  let events = 0;
  while (product > limit) {
    product *= randomUnit(random);
    events++;
  }
  return events;
}

/** `count` of the values, or all if there are fewer, in random order. */
export function pick<T>(values: readonly T[], count: number, random: RandomSource): T[] {
  const remaining = [...values];
  const picked: T[] = [];
  while (picked.length < count && remaining.length > 0) {
    picked.push(...remaining.splice(randomBelow(remaining.length, random), 1));
  }
  return picked;
}
