/** A change as bytes: the scan worker sends them, and the journal encrypts them. */
import { type Plain, readCbor, writeCbor } from "./cbor.ts";
import type { WalletChange } from "./changes.ts";

export function encodeChange(change: WalletChange): Uint8Array {
  return writeCbor(change as unknown as Plain);
}

/** Decodes what `encodeChange` wrote. Throws `BadCbor`. */
export function decodeChange(encoded: Uint8Array): WalletChange {
  return readCbor(encoded) as unknown as WalletChange;
}
