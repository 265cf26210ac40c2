/** Text that is not hexadecimal, or not of the expected length. */
export class BadHex extends Error {
  override name = "BadHex";
}

const hexOfByte = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, "0"));

/** Lower-case hexadecimal text of some bytes. */
export function toHex(bytes: Uint8Array): string {
  let text = "";
  for (let i = 0; i < bytes.length; i++) text += hexOfByte[bytes[i]!]!;
  return text;
}

function valueOfHexDigit(code: number): number {
  if (code >= 48 && code <= 57) return code - 48;
  const lower = code | 32;
  return lower >= 97 && lower <= 102 ? lower - 87 : -1;
}

/** Bytes of hexadecimal text (either case); throws `BadHex`, also when `length` (bytes) is given and differs. */
export function fromHex(text: string, length?: number): Uint8Array {
  if (text.length % 2 !== 0) throw new BadHex("hexadecimal text of odd length");
  if (length !== undefined && text.length !== length * 2)
    throw new BadHex(`expected ${length} bytes in hexadecimal`);
  const bytes = new Uint8Array(text.length / 2);
  for (let i = 0; i < bytes.length; i++) {
    const value =
      (valueOfHexDigit(text.charCodeAt(2 * i)) << 4) | valueOfHexDigit(text.charCodeAt(2 * i + 1));
    if (value < 0) throw new BadHex("not a hexadecimal digit");
    bytes[i] = value;
  }
  return bytes;
}

/** Order of two byte strings, first byte first, as memcmp: negative, zero or positive. Not for secrets. */
export function compareBytes(a: Uint8Array, b: Uint8Array): number {
  const shared = Math.min(a.length, b.length);
  for (let i = 0; i < shared; i++) {
    const difference = a[i]! - b[i]!;
    if (difference !== 0) return difference;
  }
  return a.length - b.length;
}

/** Whether two byte strings are the same; time depends only on the lengths. */
export function equalBytes(a: Uint8Array, b: Uint8Array): boolean {
  if (a.length !== b.length) return false;
  let difference = 0;
  for (let i = 0; i < a.length; i++) difference |= a[i]! ^ b[i]!;
  return difference === 0;
}

/** One byte string of several. */
export function concatBytes(...parts: readonly Uint8Array[]): Uint8Array {
  const joined = new Uint8Array(parts.reduce((size, part) => size + part.length, 0));
  let at = 0;
  for (const part of parts) {
    joined.set(part, at);
    at += part.length;
  }
  return joined;
}
