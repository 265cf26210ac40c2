import { BadHex, fromHex } from "@anulo/protocol";
import { WalletRefusal } from "../refusal.ts";

/** Whether a text is hexadecimal for 32 bytes: a hash, a key, a key image. */
export const isHash = (text: string): boolean => /^[0-9a-f]{64}$/i.test(text);

/** Bytes of a transaction's id; throws the refusal callers know. */
export function parseTxHash(hex: string): Uint8Array {
  if (!isHash(hex)) throw new WalletRefusal("WRONG_TXID", "TX ID has invalid format");
  return fromHex(hex);
}

/** Bytes of a key image; throws the refusal callers know. */
export function parseKeyImage(hex: string): Uint8Array {
  if (!isHash(hex)) throw new WalletRefusal("WRONG_KEY_IMAGE", "failed to parse key image");
  return fromHex(hex);
}

/** Bytes of hexadecimal text; throws the refusal callers know. */
export function parseHex(hex: string): Uint8Array {
  try {
    return fromHex(hex);
  } catch (error) {
    if (error instanceof BadHex) throw new WalletRefusal("BAD_HEX", "Failed to parse hex.");
    throw error;
  }
}
