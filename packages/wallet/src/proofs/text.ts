/** Proofs as text: a header for the kind, then bytes in base 58. */
import { BadBytes, decodeBase58, encodeBase58 } from "@anulo/protocol";
import { byteStringOf } from "@anulo/rpc";
import { WalletRefusal } from "../refusal.ts";

export const KEY_LETTERS: number = encodeBase58(new Uint8Array(32)).length;
export const SIGNATURE_LETTERS: number = encodeBase58(new Uint8Array(64)).length;

/** The bytes of a caller's text, whether they are valid UTF-8 or not. */
export function bytesOfText(text: string): Uint8Array {
  return new Uint8Array(Buffer.from(byteStringOf(text), "latin1"));
}

/** Decodes base 58; undefined for any other text. */
export function base58Bytes(text: string): Uint8Array | undefined {
  try {
    return decodeBase58(text);
  } catch (error) {
    if (error instanceof BadBytes) return undefined;
    throw error;
  }
}

/**
 * The error for text that is not a proof, and for a proof that can't be created. The original uses the same code for
 * all of these.
 */
export function proofRefusal(message: string): WalletRefusal {
  return new WalletRefusal("UNKNOWN_ERROR", message);
}

/** Decodes base 58; throws `WalletRefusal`. */
export function decodeProofText(text: string): Uint8Array {
  const bytes = base58Bytes(text);
  if (bytes === undefined) throw proofRefusal("Signature decoding error");
  return bytes;
}
