/** Text that is not hexadecimal, or not of the expected length. */
export class BadHex extends Error {
  override name = "BadHex";
}

/** Formats bytes as lower-case hexadecimal text. */
export function toHex(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("hex");
}

/** The value of a hexadecimal digit, without a branch or a table: keys are read so, too. */
const valueOfDigit = (code: number): number => (code & 15) + 9 * (code >> 6);

/** Negative for the code unit of anything but a hexadecimal digit, also found without a branch. */
function signOfDigit(code: number): number {
  const decimal = code - 0x30;
  const letter = (code | 0x20) - 0x61;
  return (decimal | (9 - decimal)) & (letter | (5 - letter));
}

/** Parses hexadecimal text (either case); throws `BadHex`, also when `length` (bytes) is passed and differs. */
export function fromHex(text: string, length?: number): Uint8Array {
  if (text.length % 2 !== 0) throw new BadHex("hexadecimal text of odd length");
  if (length !== undefined && text.length !== length * 2)
    throw new BadHex(`expected ${length} bytes in hexadecimal`);
  const bytes = new Uint8Array(text.length / 2);
  let signs = 0;
  for (let i = 0, at = 0; i < bytes.length; i++, at += 2) {
    const high = text.charCodeAt(at);
    const low = text.charCodeAt(at + 1);
    signs |= signOfDigit(high) | signOfDigit(low);
    bytes[i] = (valueOfDigit(high) << 4) | valueOfDigit(low);
  }
  if (signs < 0) throw new BadHex("not a hexadecimal digit");
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
