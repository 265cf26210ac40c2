import { BadHex, fromHex } from "@anulo/protocol";
import { WalletRefusal } from "../refusal.ts";

/** Bytes of hexadecimal text; throws the refusal callers know. */
export function parseHex(hex: string): Uint8Array {
  try {
    return fromHex(hex);
  } catch (error) {
    if (error instanceof BadHex) throw new WalletRefusal("BAD_HEX", "Failed to parse hex.");
    throw error;
  }
}
