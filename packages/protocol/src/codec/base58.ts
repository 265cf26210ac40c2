import { BadBytes } from "./bytes-io.ts";

/**
 * Base 58 in blocks: 8 bytes become 11 letters, so that the length of a text determines that of its bytes. It differs
 * from Bitcoin's. Source: common/base58.cpp.
 */
const alphabet = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz";
const ascii = new TextDecoder("latin1");
const letterCodes = Uint8Array.from(alphabet, (letter) => letter.charCodeAt(0));
/** Digit by character code; -1 for other characters. */
const digits = Int8Array.from({ length: 128 }, (_, code) => alphabet.indexOf(String.fromCharCode(code)));
const BLOCK_BYTES = 8;
const BLOCK_LETTERS = 11;
/** Number of letters of a block, by its number of bytes. */
const lettersOfBytes = [0, 2, 3, 5, 6, 7, 9, 10, 11];

/**
 * A block is computed as two numbers, its last letters and those before them, for speed: reserve proofs may have
 * hundreds of thousands of letters.
 */
const LOW_LETTERS = 5;
const LOW_RANGE = 58 ** LOW_LETTERS;

/** The letters of each number below 58², the second in the high byte. */
const letterPairs = Uint16Array.from(
  { length: 58 * 58 },
  (_, i) => letterCodes[Math.floor(i / 58)]! | (letterCodes[i % 58]! << 8),
);

/** Writes the last `count` digits of a number as letters that end before `end`. */
function putLetters(codes: Uint8Array, end: number, value: number, count: number): void {
  let rest = value;
  let at = end;
  for (const first = end - count; at - first >= 2; at -= 2) {
    const next = Math.floor(rest / 3364);
    const pair = letterPairs[rest - next * 3364]!;
    codes[at - 2] = pair & 0xff;
    codes[at - 1] = pair >> 8;
    rest = next;
  }
  if (count % 2 === 1) codes[at - 1] = letterCodes[rest % 58]!;
}

/** Writes the letters of up to 8 bytes. */
function putBlock(codes: Uint8Array, at: number, bytes: Uint8Array, from: number, size: number): void {
  const letters = lettersOfBytes[size]!;
  let high = 0;
  let low = 0;
  // Long division by the range of the low letters, up to two bytes at a time.
  for (let i = from; i < from + size; ) {
    const isPair = i + 1 < from + size;
    const digit = isPair ? bytes[i]! * 256 + bytes[i + 1]! : bytes[i]!;
    const radix = isPair ? 65536 : 256;
    const rest = low * radix + digit;
    const quotient = Math.floor(rest / LOW_RANGE);
    high = high * radix + quotient;
    low = rest - quotient * LOW_RANGE;
    i += isPair ? 2 : 1;
  }
  const lowLetters = Math.min(letters, LOW_LETTERS);
  putLetters(codes, at + letters, low, lowLetters);
  putLetters(codes, at + letters - lowLetters, high, letters - lowLetters);
}

function numberOf(text: string, from: number, to: number): number {
  let value = 0;
  for (let i = from; i < to; i++) {
    const digit = digits[text.charCodeAt(i)] ?? -1;
    if (digit < 0) throw new BadBytes("not a base 58 letter");
    value = value * 58 + digit;
  }
  return value;
}

/** Writes the bytes that the letters from `from` to `to` encode, so that they end before `end`. */
function takeBlock(bytes: Uint8Array, end: number, text: string, from: number, to: number): void {
  const size = lettersOfBytes.indexOf(to - from);
  const split = Math.max(from, to - LOW_LETTERS);
  let high = numberOf(text, from, split);
  let low = numberOf(text, split, to);
  // Both numbers lose a byte at a time, so the rest of the high part, times the range, is never needed completely.
  for (let at = end - 1; at >= end - size; at--) {
    const rest = high % 256;
    const sum = rest * LOW_RANGE + low;
    high = (high - rest) / 256;
    bytes[at] = sum % 256;
    low = Math.floor(sum / 256);
  }
  if (high !== 0 || low !== 0) throw new BadBytes("base 58 block too large");
}

/** Encodes bytes as base 58 text. */
export function encodeBase58(bytes: Uint8Array): string {
  const blocks = Math.floor(bytes.length / BLOCK_BYTES);
  const codes = new Uint8Array(BLOCK_LETTERS * blocks + lettersOfBytes[bytes.length % BLOCK_BYTES]!);
  for (let at = 0, to = 0; at < bytes.length; at += BLOCK_BYTES, to += BLOCK_LETTERS)
    putBlock(codes, to, bytes, at, Math.min(BLOCK_BYTES, bytes.length - at));
  return ascii.decode(codes);
}

/** Decodes base 58 text to bytes; throws `BadBytes`. */
export function decodeBase58(text: string): Uint8Array {
  const rest = lettersOfBytes.indexOf(text.length % BLOCK_LETTERS);
  if (rest < 0) throw new BadBytes("no base 58 text has this length");
  const size = BLOCK_BYTES * Math.floor(text.length / BLOCK_LETTERS) + rest;
  const bytes = new Uint8Array(size);
  for (let from = 0, end = 0; from < text.length; from += BLOCK_LETTERS) {
    end = Math.min(size, end + BLOCK_BYTES);
    takeBlock(bytes, end, text, from, Math.min(text.length, from + BLOCK_LETTERS));
  }
  return bytes;
}
