/** A change as bytes, which the scan worker sends and the journal seals. */
import { type Plain, readCbor, writeCbor } from "./cbor.ts";
import type { WalletChange } from "./changes.ts";

export function encodeChange(change: WalletChange): Uint8Array {
  return writeCbor(change as unknown as Plain);
}

/** What `encodeChange` wrote. Throws `BadCbor`. */
export function decodeChange(encoded: Uint8Array): WalletChange {
  return readCbor(encoded) as unknown as WalletChange;
}
