import { BadBytes } from "./bytes-io.ts";

/**
 * Base 58 in blocks: 8 bytes become 11 letters, so that length tells length. Not Bitcoin's.
 * Source: common/base58.cpp.
 */
const alphabet = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz";
const digitOf = new Map([...alphabet].map((letter, digit) => [letter, BigInt(digit)]));
const BLOCK_BYTES = 8;
const BLOCK_LETTERS = 11;
/** Letters of a block, by its bytes. */
const lettersOfBytes = [0, 2, 3, 5, 6, 7, 9, 10, 11];

function encodeBlock(block: Uint8Array): string {
  let rest = block.reduce((value, byte) => (value << 8n) | BigInt(byte), 0n);
  let text = "";
  for (let i = 0; i < lettersOfBytes[block.length]!; i++, rest /= 58n)
    text = alphabet[Number(rest % 58n)] + text;
  return text;
}

function decodeBlock(text: string): Uint8Array {
  const size = lettersOfBytes.indexOf(text.length);
  if (size < 0) throw new BadBytes("no base 58 text has this length");
  let value = 0n;
  for (const letter of text) {
    const digit = digitOf.get(letter);
    if (digit === undefined) throw new BadBytes("not a base 58 letter");
    value = value * 58n + digit;
  }
  if (value >> BigInt(8 * size) !== 0n) throw new BadBytes("base 58 block too large");
  const block = new Uint8Array(size);
  for (let i = size - 1; i >= 0; i--, value >>= 8n) block[i] = Number(value & 0xffn);
  return block;
}

/** Base 58 text of bytes. */
export function encodeBase58(bytes: Uint8Array): string {
  let text = "";
  for (let at = 0; at < bytes.length; at += BLOCK_BYTES)
    text += encodeBlock(bytes.subarray(at, at + BLOCK_BYTES));
  return text;
}

/** Bytes of base 58 text; throws `BadBytes`. */
export function decodeBase58(text: string): Uint8Array {
  const bytes: number[] = [];
  for (let at = 0; at < text.length; at += BLOCK_LETTERS)
    bytes.push(...decodeBlock(text.slice(at, at + BLOCK_LETTERS)));
  return new Uint8Array(bytes);
}
