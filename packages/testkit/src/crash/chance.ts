import { createHash } from "node:crypto";

/** Numbers that depend on a seed alone. */
export interface Chance {
  /** A whole number from `low` to `high`, both included. */
  between(low: number, high: number): number;
  /** True with this probability. */
  happens(probability: number): boolean;
  pick<T>(choices: readonly T[]): T;
}

/** The same seed gives the same numbers. */
export function createChance(seed: string): Chance {
  let counter = 0;
  const next = () => {
    const hash = createHash("sha256").update(`${seed} ${counter++}`).digest();
    return hash.readUInt32LE() / 2 ** 32;
  };
  return {
    between: (low, high) => low + Math.floor(next() * (high - low + 1)),
    happens: (probability) => next() < probability,
    pick: (choices) => choices[Math.floor(next() * choices.length)]!,
  };
}
