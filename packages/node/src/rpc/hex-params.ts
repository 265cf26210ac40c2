import { BadHex, fromHex } from "@anulo/protocol";

/** Bytes of hexadecimal text, undefined when it is none or not of `length` bytes. */
export function bytesOfHex(text: string, length?: number): Uint8Array | undefined {
  try {
    return fromHex(text, length);
  } catch (error) {
    if (error instanceof BadHex) return undefined;
    throw error;
  }
}
