import type { Dialect } from "../dialect.ts";
import { BytePieces } from "./byte-pieces.ts";

const WORD_BYTES = 4;
const PACKED_BYTES = 8;
const QUOTE = 0x22;
/** Texts up to this length are written in JavaScript: a library call takes as long as thirty characters. */
const SHORT_TEXT = 32;
const BEGIN_BYTES = 1024;
/** From this length (bytes) on, text of a long list is set aside as a piece. */
const PIECE_BYTES = 64 * 1024;
const MAX_SHORT_INTEGER = 2 ** 31;
/** Of 2^53 - 1. */
const MAX_DIGITS = 16;
const COMMA = 0x2c;

/** Text in words; the excess bytes of the last word are overwritten by the text that follows. */
export interface TextWords {
  readonly length: number;
  readonly words: Uint32Array;
}

/** Prepares a byte string that is written repeatedly. */
export function textWords(text: string): TextWords {
  const words = new Uint32Array(Math.ceil(text.length / WORD_BYTES));
  for (let i = 0; i < text.length; i++)
    words[i >> 2]! |= text.charCodeAt(i) << (8 * (WORD_BYTES - 1 - (i % WORD_BYTES)));
  return { length: text.length, words };
}

/** The character with which an escape begins. */
const ESCAPE = 0x5c;
/** For each byte that has a short escape, the letter of it; 0 for all others. */
const ESCAPES = new Uint8Array(256);
for (const [bytes, letters] of [
  ["\b\f\n\r\t\v", "bfnrtv"],
  ['"\\/', '"\\/'],
] as const)
  for (let i = 0; i < bytes.length; i++) ESCAPES[bytes.charCodeAt(i)] = letters.charCodeAt(i);

/** The two hexadecimal digits of each byte. */
const HEX = Uint16Array.from({ length: 256 }, (_, byte) => {
  const digits = byte.toString(16).padStart(2, "0");
  return (digits.charCodeAt(0) << 8) | digits.charCodeAt(1);
});

/**
 * JSON text that is written as bytes, one for each character of a byte string: no strings are created for values or for
 * the text between them.
 */
export class TextBytes {
  readonly dialect: Dialect;
  #bytes: Buffer;
  #view: DataView;
  #at = 0;
  /** Pieces that come before what is in the buffer, and the number of their bytes. */
  #pieces: Buffer[] | undefined;
  #pieceBytes = 0;

  /** Starts in a buffer that no other writer uses meanwhile. */
  constructor(dialect: Dialect, begin = Buffer.allocUnsafe(BEGIN_BYTES)) {
    this.dialect = dialect;
    this.#bytes = begin;
    this.#view = new DataView(begin.buffer, begin.byteOffset, begin.length);
  }

  /** Number of bytes written so far. */
  get length(): number {
    return this.#pieceBytes + this.#at;
  }

  /** The written bytes, in the buffer they were written to unless some were set aside as pieces. */
  get contents(): Buffer {
    const last = this.#bytes.subarray(0, this.#at);
    return this.#pieces === undefined ? last : Buffer.concat([...this.#pieces, last]);
  }

  /** The same as pieces, if some were set aside. */
  get result(): Buffer | BytePieces {
    const last = this.#bytes.subarray(0, this.#at);
    if (this.#pieces === undefined) return last;
    return new BytePieces(this.#at === 0 ? this.#pieces : [...this.#pieces, Buffer.from(last)]);
  }

  /** The same in memory of its own, to be kept. */
  get kept(): Buffer | BytePieces {
    const { result } = this;
    return result instanceof BytePieces ? result : Buffer.from(result);
  }

  /** Sets aside what was written, if that is long: nothing of it is copied when more follows. */
  setAside(least: number = PIECE_BYTES): void {
    if (this.#at < least) return;
    this.#pieces ??= [];
    this.#pieces.push(Buffer.from(this.#bytes.subarray(0, this.#at)));
    this.#pieceBytes += this.#at;
    this.#at = 0;
  }

  /** Ensures space for this number of bytes and one word, so that text may be written in whole words. */
  reserve(more: number): void {
    const needed = this.#at + more + WORD_BYTES;
    if (needed <= this.#bytes.length) return;
    // The buffer also gets space for what follows a long list: otherwise its bytes would be copied once more for a few
    // others.
    const longer = Buffer.allocUnsafe(Math.max(needed + Math.ceil(needed / 8), 2 * this.#bytes.length));
    this.#bytes.copy(longer, 0, 0, this.#at);
    this.#bytes = longer;
    this.#view = new DataView(longer.buffer, longer.byteOffset, longer.length);
  }

  /** Writes a byte string. */
  text(text: string): void {
    const { length } = text;
    this.reserve(length);
    if (length > SHORT_TEXT) this.#bytes.write(text, this.#at, "latin1");
    else {
      const bytes = this.#bytes;
      for (let i = 0, at = this.#at; i < length; i++, at++) bytes[at] = text.charCodeAt(i);
    }
    this.#at += length;
  }

  words({ words, length }: TextWords): void {
    this.reserve(length);
    const view = this.#view;
    for (let i = 0, at = this.#at; i < words.length; i++, at += WORD_BYTES) view.setUint32(at, words[i]!);
    this.#at += length;
  }

  /** Writes existing text. */
  bytes(bytes: Uint8Array): void {
    this.reserve(bytes.length);
    this.#bytes.set(bytes, this.#at);
    this.#at += bytes.length;
  }

  /**
   * Writes raw bytes as the inside of a JSON string. Like that of the original programs it is not strict JSON: every
   * byte without a short escape is left as it is. Source: contrib/epee/src/parserse_base_utils.cpp.
   */
  escaped(bytes: Uint8Array): void {
    this.reserve(2 * bytes.length);
    const target = this.#bytes;
    let at = this.#at;
    for (let i = 0; i < bytes.length; i++) {
      const byte = bytes[i]!;
      const letter = ESCAPES[byte]!;
      if (letter !== 0) target[at++] = ESCAPE;
      target[at++] = letter === 0 ? byte : letter;
    }
    this.#at = at;
  }

  /** Writes numbers below 2^53 as 64 bits each, lowest byte first, in the form of `escaped`. */
  packed(numbers: ArrayLike<number>): void {
    this.reserve(2 * PACKED_BYTES * numbers.length);
    const view = this.#view;
    let at = this.#at;
    const putByte = (byte: number) => {
      const letter = ESCAPES[byte]!;
      if (letter !== 0) view.setUint8(at++, ESCAPE);
      view.setUint8(at++, letter === 0 ? byte : letter);
    };
    for (let i = 0; i < numbers.length; i++) {
      let rest = numbers[i]!;
      if (rest < 0x100) {
        // Nearly all counts: seven bytes of zero follow, which need no escape.
        putByte(rest);
        view.setUint32(at, 0);
        view.setUint32(at + PACKED_BYTES - 1 - WORD_BYTES, 0);
        at += PACKED_BYTES - 1;
        continue;
      }
      for (let left = PACKED_BYTES; left > 0; left--) {
        putByte(rest % 0x100);
        rest = Math.floor(rest / 0x100);
      }
    }
    this.#at = at;
  }

  /** Writes existing text but its last byte; its pieces are not copied, except the last one: more text follows. */
  resume(text: Uint8Array | BytePieces): void {
    const pieces = text instanceof BytePieces ? text.pieces : [text];
    const last = pieces.at(-1)!;
    if (pieces.length > 1) this.add(new BytePieces(pieces.slice(0, -1) as Buffer[]));
    this.bytes(last.subarray(0, -1));
  }

  /** Writes existing text; its pieces are not copied. */
  add(text: Uint8Array | BytePieces): void {
    if (!(text instanceof BytePieces)) return void this.bytes(text);
    this.setAside(1);
    this.#pieces ??= [];
    for (const piece of text.pieces) this.#pieces.push(piece);
    this.#pieceBytes += text.length;
  }

  byte(byte: number): void {
    this.reserve(1);
    this.#bytes[this.#at++] = byte;
  }

  /** Writes a whole number from 0 to 2^53 - 1, in decimal. */
  integer(value: number): void {
    this.reserve(MAX_DIGITS);
    this.#at = writeDigits(this.#bytes, this.#at, value);
  }

  /** Writes such numbers, each after a comma. */
  moreIntegers(values: Uint32Array | Float64Array): void {
    this.reserve((1 + MAX_DIGITS) * values.length);
    const bytes = this.#bytes;
    let at = this.#at;
    for (let i = 0; i < values.length; i++) {
      bytes[at++] = COMMA;
      at = writeDigits(bytes, at, values[i]!);
    }
    this.#at = at;
  }

  /** Writes `length` bytes from `from` on as hexadecimal digits in quotation marks. */
  hex(bytes: ArrayLike<number>, from = 0, length = bytes.length): void {
    this.reserve(2 * length + 2);
    const view = this.#view;
    let at = this.#at;
    view.setUint8(at++, QUOTE);
    for (let i = from; i < from + length; i++, at += 2) view.setUint16(at, HEX[bytes[i]!]!);
    view.setUint8(at++, QUOTE);
    this.#at = at;
  }
}

/** Writes a whole number in decimal; returns where it ends. */
function writeDigits(bytes: Uint8Array, from: number, value: number): number {
  if (value < 10) {
    bytes[from] = 0x30 + value;
    return from + 1;
  }
  let digits = 1;
  for (let rest = value; rest >= 10; digits++)
    rest = rest < MAX_SHORT_INTEGER ? (rest / 10) | 0 : Math.floor(rest / 10);
  let rest = value;
  for (let at = from + digits - 1; at >= from; at--) {
    const tenth = rest < MAX_SHORT_INTEGER ? (rest / 10) | 0 : Math.floor(rest / 10);
    bytes[at] = 0x30 + (rest - 10 * tenth);
    rest = tenth;
  }
  return from + digits;
}

/** A buffer into which most texts fit; finished texts are copied out of it. */
const SCRATCH_BYTES = 64 * 1024;
/** Undefined while a text is being written into it. */
let scratch: Buffer<ArrayBuffer> | undefined = Buffer.allocUnsafeSlow(SCRATCH_BYTES);

/** The bytes that `write` writes synchronously. */
export function bytesOfText(dialect: Dialect, write: (out: TextBytes) => void): Buffer {
  const text = textOf(dialect, write);
  return text instanceof BytePieces ? Buffer.concat(text.pieces) : text;
}

/** The same; in pieces, where some of the text was. */
export function textOf(dialect: Dialect, write: (out: TextBytes) => void): Buffer | BytePieces {
  const begin = scratch;
  scratch = undefined;
  try {
    const out = new TextBytes(dialect, begin);
    write(out);
    const { result } = out;
    const isInScratch =
      begin !== undefined && !(result instanceof BytePieces) && result.buffer === begin.buffer;
    return isInScratch ? Buffer.from(result) : result;
  } finally {
    scratch = begin;
  }
}
