/** Unbiased random choices from a source of random bytes. */
import type { RandomSource } from "@anulo/crypto";

/** Choices take eight bytes each; requesting them from the system one by one would take longer than everything else. */
const BYTES_AT_ONCE = 4096;

/** The same source, from which many bytes are requested at once; no byte is used twice. */
export function inBulk(source: RandomSource, bytesAtOnce = BYTES_AT_ONCE): RandomSource {
  let unread: Uint8Array = new Uint8Array(0);
  return (size) => {
    if (size > unread.length) unread = source(Math.max(size, bytesAtOnce));
    const part = unread.subarray(0, size);
    unread = unread.subarray(size);
    return part;
  };
}

/** A uniform real in [0, 1) with 53 bits. */
export function randomReal(random: RandomSource): number {
  const bytes = random(8);
  const view = new DataView(bytes.buffer, bytes.byteOffset, 8);
  return Number(view.getBigUint64(0) >> 11n) / 2 ** 53;
}

/** A uniform integer in [0, bound); `bound` from 1 to 2^53, else `RangeError`. */
export function randomIndex(random: RandomSource, bound: number): number {
  if (!Number.isSafeInteger(bound) || bound < 1) throw new RangeError("nothing to choose from");
  const range = BigInt(bound);
  const fair = (1n << 64n) - ((1n << 64n) % range);
  for (;;) {
    const bytes = random(8);
    const value = new DataView(bytes.buffer, bytes.byteOffset, 8).getBigUint64(0);
    if (value < fair) return Number(value % range);
  }
}

/** A copy in random order (Fisher–Yates). */
export function shuffled<T>(items: readonly T[], random: RandomSource): T[] {
  const out = [...items];
  for (let i = out.length - 1; i > 0; --i) {
    const j = randomIndex(random, i + 1);
    [out[i], out[j]] = [out[j]!, out[i]!];
  }
  return out;
}

/** A standard normal value. Source: Marsaglia, Bray, "A convenient method for generating normal variables" (1964). */
function randomNormal(random: RandomSource): number {
  for (;;) {
    const u = 2 * randomReal(random) - 1;
    const v = 2 * randomReal(random) - 1;
    const s = u * u + v * v;
    if (s > 0 && s < 1) return u * Math.sqrt((-2 * Math.log(s)) / s);
  }
}

/**
 * A value of the gamma distribution; `shape` at least 1.
 * Source: Marsaglia, Tsang, "A simple method for generating gamma variables" (2000).
 */
export function randomGamma(random: RandomSource, shape: number, scale: number): number {
  const d = shape - 1 / 3;
  const c = 1 / Math.sqrt(9 * d);
  for (;;) {
    const x = randomNormal(random);
    const v = (1 + c * x) ** 3;
    if (v <= 0) continue;
    const u = randomReal(random);
    if (Math.log(1 - u) < 0.5 * x * x + d - d * v + d * Math.log(v)) return d * v * scale;
  }
}
