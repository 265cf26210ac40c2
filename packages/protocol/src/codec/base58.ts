import { BadBytes } from "./bytes-io.ts";

/**
 * Base 58 in blocks: 8 bytes become 11 letters, so that length tells length. Not Bitcoin's.
 * Source: common/base58.cpp.
 */
const alphabet = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz";
/** By character code; -1 for what is no letter. */
const digits = Int8Array.from({ length: 128 }, (_, code) => alphabet.indexOf(String.fromCharCode(code)));
const BLOCK_BYTES = 8;
const BLOCK_LETTERS = 11;
/** Letters of a block, by its bytes. */
const lettersOfBytes = [0, 2, 3, 5, 6, 7, 9, 10, 11];

/** A block is worked on in two halves that fit a number: proofs of funds run to hundreds of thousands of letters. */
const LOW_LETTERS = 5;
const LOW_RANGE = 58n ** BigInt(LOW_LETTERS);

function lettersOf(value: number, count: number): string {
  let text = "";
  let rest = value;
  for (let i = 0; i < count; i++, rest = Math.floor(rest / 58)) text = alphabet[rest % 58] + text;
  return text;
}

function encodeBlock(block: Uint8Array): string {
  const letters = lettersOfBytes[block.length]!;
  const padded = new DataView(new ArrayBuffer(BLOCK_BYTES));
  for (const [i, byte] of block.entries()) padded.setUint8(BLOCK_BYTES - block.length + i, byte);
  const value = padded.getBigUint64(0);
  const low = Math.min(letters, LOW_LETTERS);
  return lettersOf(Number(value / LOW_RANGE), letters - low) + lettersOf(Number(value % LOW_RANGE), low);
}

function numberOf(text: string): number {
  let value = 0;
  for (let i = 0; i < text.length; i++) {
    const digit = digits[text.charCodeAt(i)] ?? -1;
    if (digit < 0) throw new BadBytes("not a base 58 letter");
    value = value * 58 + digit;
  }
  return value;
}

function decodeBlock(text: string): Uint8Array {
  const size = lettersOfBytes.indexOf(text.length);
  if (size < 0) throw new BadBytes("no base 58 text has this length");
  const split = Math.max(0, text.length - LOW_LETTERS);
  const value = BigInt(numberOf(text.slice(0, split))) * LOW_RANGE + BigInt(numberOf(text.slice(split)));
  if (value >> BigInt(8 * size) !== 0n) throw new BadBytes("base 58 block too large");
  const block = new DataView(new ArrayBuffer(BLOCK_BYTES));
  block.setBigUint64(0, value);
  return new Uint8Array(block.buffer, BLOCK_BYTES - size);
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
