/** Text that is not hexadecimal, or not of the expected length. */
export class BadHex extends Error {
  override name = "BadHex";
}

/** Formats bytes as lower-case hexadecimal text. */
export function toHex(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("hex");
}

/** Parses hexadecimal text (either case); throws `BadHex`, also when `length` (bytes) is passed and differs. */
export function fromHex(text: string, length?: number): Uint8Array {
  if (text.length % 2 !== 0) throw new BadHex("hexadecimal text of odd length");
  if (length !== undefined && text.length !== length * 2)
    throw new BadHex(`expected ${length} bytes in hexadecimal`);
  // Buffer stops at the first character that is no digit, and reads only half of a character above 0xff.
  const bytes = new Uint8Array(text.length / 2);
  const written = Buffer.from(bytes.buffer).write(text, "hex");
  if (written !== bytes.length || /[^0-9a-fA-F]/.test(text)) throw new BadHex("not a hexadecimal digit");
  return bytes;
}

/** Compares two byte strings, first byte first, as memcmp: negative, zero or positive. Not for secrets. */
export function compareBytes(a: Uint8Array, b: Uint8Array): number {
  const shared = Math.min(a.length, b.length);
  for (let i = 0; i < shared; i++) {
    const difference = a[i]! - b[i]!;
    if (difference !== 0) return difference;
  }
  return a.length - b.length;
}
