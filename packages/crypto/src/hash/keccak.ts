import { joined } from "../bytes.ts";
import { backend } from "../engine.ts";

/** Keccak-256 (32 bytes, the padding from before SHA-3) of the parts, one after the other. Source: crypto/keccak.c. */
export function keccak256(...parts: readonly Uint8Array[]): Uint8Array {
  return backend.keccak256(joined(parts));
}
