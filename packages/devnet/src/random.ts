import { createHash } from "node:crypto";
import type { RandomSource } from "@anulo/crypto";

/** Bytes that follow from a seed: for chains whose blocks shall be the same each time, never for secrets of worth. */
export type SeededRandom = {
  readonly random: RandomSource;
  /** Number of hashes taken so far; setting it back repeats what came after it. */
  position: number;
};

const HASH_BYTES = 32;

/** The SHA-256 hashes of the label with a counter. */
export function createSeededRandom(label: string): SeededRandom {
  const seeded = {
    position: 0,
    random: (size: number): Uint8Array => {
      const count = Math.ceil(size / HASH_BYTES);
      const hashes = Array.from({ length: count }, () =>
        createHash("sha256")
          .update(`${label} ${seeded.position++}`)
          .digest(),
      );
      return new Uint8Array(Buffer.concat(hashes).subarray(0, size));
    },
  };
  return seeded;
}
