import { BadHex, fromHex } from "@anulo/protocol";
import { WalletRefusal } from "../refusal.ts";

/** Whether text is 32 bytes in hexadecimal: a hash, a key, a key image. */
export const isHash = (text: string): boolean => /^[0-9a-f]{64}$/i.test(text);

/** The bytes of a transaction id; throws `WalletRefusal`. */
export function parseTxHash(hex: string): Uint8Array {
  if (!isHash(hex)) throw new WalletRefusal("WRONG_TXID", "TX ID has invalid format");
  return fromHex(hex);
}

/** The bytes of a key image; throws `WalletRefusal`. */
export function parseKeyImage(hex: string): Uint8Array {
  if (!isHash(hex)) throw new WalletRefusal("WRONG_KEY_IMAGE", "failed to parse key image");
  return fromHex(hex);
}

/** The bytes of hexadecimal text; throws `WalletRefusal`. */
export function parseHex(hex: string): Uint8Array {
  try {
    return fromHex(hex);
  } catch (error) {
    if (error instanceof BadHex) throw new WalletRefusal("BAD_HEX", "Failed to parse hex.");
    throw error;
  }
}
