import { BadJson, type Json, Real } from "./json.ts";

/** Escaped characters that are counted as much as one value. */
const ESCAPES_PER_VALUE = 8;
/** Spaces in a row, characters of a text with escapes, and digits of a number: each of them is read in one step. */
const MAX_SPACES = 1 << 20;
const MAX_ESCAPED_LENGTH = 1 << 20;
const MAX_DIGITS = 1 << 16;
/** Characters that are joined one by one, and how many of them at once. */
const MAX_SHORT_PIECE = 32;
const MAX_UNITS = 4096;
const MAX_U64 = 0xffffffffffffffffn;
const MIN_I64 = -0x8000000000000000n;

/** A place in a text that is being parsed. */
export type Cursor = {
  readonly text: string;
  at: number;
  valuesLeft: number;
  /** Names by their place in the object read last: the next one of a list has the same. */
  readonly names: string[];
};

export function countValues(cursor: Cursor, values = 1): void {
  cursor.valuesLeft -= values;
  if (cursor.valuesLeft < 0) throw new BadJson("too many values");
}

const NUMBER = new RegExp(`[-+.0-9eE]{1,${MAX_DIGITS}}`, "y");
const INTEGER = /^-?[0-9]+$/;
/** As many digits as 2^64 has, after zeros. */
const MAX_SHORT_DIGITS = 15;
/** Codes of what follows a number: a comma, a bracket or brace, space, the end of a line. */
const ENDS_NUMBER: ReadonlySet<number> = new Set([0x2c, 0x5d, 0x7d, 0x20, 0x0d, 0x0a]);
const SHORT_INTEGER = /^-?0*[0-9]{1,20}$/;

export function readNumber(cursor: Cursor): Json {
  const digits = readShortInteger(cursor);
  if (digits !== undefined) return digits;
  NUMBER.lastIndex = cursor.at;
  const text = NUMBER.exec(cursor.text)![0];
  if (text.length >= MAX_DIGITS) throw new BadJson("number too long");
  cursor.at += text.length;
  if (cursor.at >= cursor.text.length) throw unexpected(cursor);
  if (!INTEGER.test(text)) {
    const value = Number.parseFloat(text);
    if (!Number.isFinite(value)) throw unexpected(cursor);
    return new Real(value);
  }
  if (text.length <= 15) return Number(text) + 0;
  // Checked first: to make a number of a megabyte of digits takes seconds.
  if (!SHORT_INTEGER.test(text)) throw new BadJson("number beyond 64 bits");
  const value = BigInt(text);
  if (value > MAX_U64 || value < MIN_I64) throw new BadJson("number beyond 64 bits");
  const short = Number(value);
  return Number.isSafeInteger(short) ? short : value;
}

/** Most numbers are a few digits, and something else behind them; undefined, and nothing is read, for all others. */
function readShortInteger(cursor: Cursor): number | undefined {
  const { text, at: start } = cursor;
  let value = 0;
  for (let at = start; at < start + MAX_SHORT_DIGITS; at++) {
    const code = text.charCodeAt(at);
    if (code >= 0x30 && code <= 0x39) value = 10 * value + (code - 0x30);
    else if (at === start || !ENDS_NUMBER.has(code)) return undefined;
    else {
      cursor.at = at;
      return value;
    }
  }
  return undefined;
}

/** One letter more than the longest that is known. */
const WORD = /[A-Za-z]{1,6}/y;

export function readWord(cursor: Cursor): boolean | null {
  WORD.lastIndex = cursor.at;
  const word = WORD.exec(cursor.text)?.[0].toLowerCase();
  if (word === undefined) throw unexpected(cursor);
  cursor.at += word.length;
  if (word === "true") return true;
  if (word === "false") return false;
  if (word === "null") return null;
  throw unexpected(cursor);
}

/** The name of the next field, up to its value; undefined where the object, or the text, ends before it. */
export function readFieldName(cursor: Cursor, place: number): string | undefined {
  const { text } = cursor;
  skipSpace(cursor);
  if (cursor.at >= text.length) return undefined;
  const character = text[cursor.at];
  if (character === "}") {
    cursor.at++;
    return undefined;
  }
  if (character !== '"') throw unexpected(cursor);
  const name = readName(cursor, place);
  if (!skipTo(cursor, ":")) return undefined;
  cursor.at++;
  skipSpace(cursor);
  return cursor.at >= text.length ? undefined : name;
}

/** The name of a field; one that was there before is found rather than made again. */
function readName(cursor: Cursor, place: number): string {
  const { text, at, names } = cursor;
  const usualName = names[place];
  if (
    usualName !== undefined &&
    text.startsWith(usualName, at + 1) &&
    text[at + 1 + usualName.length] === '"'
  ) {
    cursor.at = at + usualName.length + 2;
    return usualName;
  }
  const name = readString(cursor);
  const isPlain = cursor.at === at + name.length + 2;
  if (isPlain && place <= names.length) names[place] = name;
  return name;
}

export function readString(cursor: Cursor): string {
  const start = cursor.at + 1;
  const end = cursor.text.indexOf('"', start);
  if (end === -1) throw unexpected(cursor);
  const plain = cursor.text.slice(start, end);
  if (!plain.includes("\\")) {
    cursor.at = end + 1;
    return plain;
  }
  return readEscapedString(cursor, start);
}

/** What follows a backslash, but for `u`; others are refused since 0.18.5. */
const ESCAPED: ReadonlyMap<string, string> = new Map([
  ...['"', "'", "/", "\\"].map((letter) => [letter, letter] as const),
  ...Object.entries({ b: "\b", f: "\f", n: "\n", r: "\r", t: "\t", v: "\v" }),
]);

function escapedLetter(letter: string): number {
  const value = ESCAPED.get(letter);
  if (value === undefined) throw new BadJson("unknown escape");
  return value.charCodeAt(0);
}

/** Joins pieces of text: each in a string of its own takes longer than all of their characters. */
class TextBuilder {
  readonly #units: number[] = [];
  #text = "";

  add(text: string, from: number, to: number): void {
    if (to - from > MAX_SHORT_PIECE) {
      this.#flush();
      this.#text += text.slice(from, to);
    } else for (let at = from; at < to; at++) this.addUnit(text.charCodeAt(at));
  }

  addUnit(unit: number): void {
    if (this.#units.push(unit) === MAX_UNITS) this.#flush();
  }

  get text(): string {
    this.#flush();
    return this.#text;
  }

  #flush(): void {
    if (this.#units.length === 0) return;
    this.#text += String.fromCharCode(...this.#units);
    this.#units.length = 0;
  }
}

function readEscapedString(cursor: Cursor, start: number): string {
  const { text } = cursor;
  const value = new TextBuilder();
  let from = start;
  for (;;) {
    const at = nextSpecial(text, from, start + MAX_ESCAPED_LENGTH);
    if (at === -1) throw unexpected(cursor);
    value.add(text, from, at);
    if (text[at] === '"') {
      cursor.at = at + 1;
      const whole = value.text;
      return SURROGATE.test(whole) ? keepBadBytes(whole) : whole;
    }
    countValues(cursor, 1 / ESCAPES_PER_VALUE);
    const letter = text[at + 1];
    if (letter === undefined) throw unexpected(cursor);
    value.addUnit(letter === "u" ? codeUnit(text, at + 2) : escapedLetter(letter));
    from = at + (letter === "u" ? 6 : 2);
  }
}

/** The next quote or backslash, or -1; throws BadJson if there is none before `most`. */
function nextSpecial(text: string, from: number, most: number): number {
  for (let at = from; at < text.length; at++) {
    if (at >= most) throw new BadJson("text with escapes too long");
    const code = text.charCodeAt(at);
    if (code === 0x22 || code === 0x5c) return at;
  }
  return -1;
}

function codeUnit(text: string, at: number): number {
  const digits = text.slice(at, at + 4);
  if (!/^[0-9a-fA-F]{4}$/.test(digits)) throw new BadJson("bad unicode escape");
  return Number.parseInt(digits, 16);
}

const SURROGATE = /[\ud800-\udfff]/;

/** Half surrogate pairs become U+FFFD; the markers of `textOfBytes` for single bytes stay. */
function keepBadBytes(value: string): string {
  return value.replace(
    /[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udc7f\udd00-\udfff]/g,
    "\ufffd",
  );
}

export function isDigit(character: string): boolean {
  return character >= "0" && character <= "9";
}

export function skipSpace(cursor: Cursor): void {
  const { text } = cursor;
  const most = cursor.at + MAX_SPACES;
  while (cursor.at < text.length) {
    const code = text.charCodeAt(cursor.at);
    if (code !== 0x20 && !(code >= 0x09 && code <= 0x0d)) return;
    if (cursor.at >= most) throw new BadJson("too many spaces");
    cursor.at++;
  }
}

/** Moves to `character` over space; false at the end of the text. */
function skipTo(cursor: Cursor, character: string): boolean {
  skipSpace(cursor);
  if (cursor.at >= cursor.text.length) return false;
  if (cursor.text[cursor.at] !== character) throw unexpected(cursor);
  return true;
}

export function unexpected(cursor: Cursor): BadJson {
  return new BadJson(`unexpected character at ${cursor.at}`);
}
