import { isUtf8 } from "node:buffer";

/** Bytes of a long body whose text is made in one step. */
const STEP_BYTES = 256 * 1024;
/** A character of UTF-8 has at most this many bytes behind its first. */
const MOST_BEHIND = 3;

/** Text of a body; bytes that are not UTF-8 become lone surrogates U+DC80..U+DCFF and keep their value. */
export function textOfBytes(bytes: Uint8Array): string {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  if (isUtf8(buffer)) return buffer.toString("utf8");
  return escapeBadBytes(buffer);
}

/** The same in steps, for long bodies. */
export function* textSteps(bytes: Uint8Array): Generator<void, string> {
  if (bytes.length <= STEP_BYTES) return textOfBytes(bytes);
  const parts: string[] = [];
  for (let from = 0; from < bytes.length; ) {
    const end = endOfCharacter(bytes, from + STEP_BYTES);
    parts.push(textOfBytes(bytes.subarray(from, end)));
    from = end;
    yield;
  }
  return parts.join("");
}

/** The last place up to `at` that is not inside a character, or is inside of none since too many bytes are before it. */
function endOfCharacter(bytes: Uint8Array, at: number): number {
  for (let end = at; end >= at - MOST_BEHIND; end--)
    if (end >= bytes.length || (bytes[end]! & 0xc0) !== 0x80) return end;
  return at;
}

/** One pass over code units: a body may consist of nothing but bad bytes. */
function escapeBadBytes(buffer: Buffer): string {
  const units = new Uint16Array(buffer.length);
  let length = 0;
  let at = 0;
  while (at < buffer.length) {
    const code = codePointAt(buffer, at);
    if (code === undefined) {
      units[length++] = 0xdc00 + buffer[at]!;
      at++;
    } else if (code < 0x10000) {
      units[length++] = code;
      at += code < 0x80 ? 1 : code < 0x800 ? 2 : 3;
    } else {
      units[length++] = 0xd7c0 + (code >> 10);
      units[length++] = 0xdc00 + (code & 0x3ff);
      at += 4;
    }
  }
  return Buffer.from(units.buffer, 0, 2 * length).toString("utf16le");
}

/** The character whose UTF-8 begins at `at`, undefined where none does. Source: RFC 3629, section 4. */
function codePointAt(buffer: Buffer, at: number): number | undefined {
  const first = buffer[at]!;
  if (first < 0x80) return first;
  const length = first < 0xc2 ? 0 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : first < 0xf5 ? 4 : 0;
  if (length === 0 || at + length > buffer.length) return undefined;
  let code = first & (0x7f >> length);
  for (let i = 1; i < length; i++) {
    const next = buffer[at + i]!;
    if ((next & 0xc0) !== 0x80) return undefined;
    code = (code << 6) | (next & 0x3f);
  }
  const isTooLong = (length === 3 && code < 0x800) || (length === 4 && code < 0x10000);
  const isNone = code > 0x10ffff || (code >= 0xd800 && code < 0xe000);
  return isTooLong || isNone ? undefined : code;
}
