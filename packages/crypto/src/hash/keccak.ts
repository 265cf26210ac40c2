import { keccak256 as keccakOfOne } from "../reference/keccak.ts";

/** Keccak-256 (32 bytes, the padding from before SHA-3) of the parts, one after the other. Source: crypto/keccak.c. */
export function keccak256(...parts: readonly Uint8Array[]): Uint8Array {
  if (parts.length === 1) return keccakOfOne(parts[0]!);
  const joined = new Uint8Array(parts.reduce((size, part) => size + part.length, 0));
  let at = 0;
  for (const part of parts) {
    joined.set(part, at);
    at += part.length;
  }
  return keccakOfOne(joined);
}
