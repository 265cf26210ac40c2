import { BadJson, type Json, type JsonObject, Real, textOfBytes } from "./json.ts";

/**
 * Deepest nesting of objects. Source: portable_storage_base.h EPEE_JSON_RECURSION_LIMIT_INTERNAL.
 */
const MAX_DEPTH = 100;
/** Each takes up to a hundred times its bytes of memory: half a million outputs with two fields and more fit. */
const MAX_VALUES = 1 << 21;
/** Fields of one object: of many different names each takes ten times as long as a value. */
const MAX_FIELDS = 4096;
/** Escaped characters that are counted as much as one value. */
const ESCAPES_PER_VALUE = 8;
const MAX_U64 = 0xffffffffffffffffn;
const MIN_I64 = -0x8000000000000000n;

/**
 * Parses one JSON object with exact 64-bit integers, as the original programs read JSON: arrays hold one kind of
 * value and no arrays, a comma may trail, an object may end with the text if no value is left open, and what
 * follows the object is ignored. Throws BadJson, also for more values than `maxValues`.
 * Source: contrib/epee/include/storages/portable_storage_from_json.h; recordings `node_http`.
 */
export function parseJson(body: Uint8Array | string, maxValues = MAX_VALUES): JsonObject {
  return parseCountedJson(body, maxValues).object;
}

/** The same, with the number of values in it. */
export function parseCountedJson(
  body: Uint8Array | string,
  maxValues: number,
): { readonly object: JsonObject; readonly values: number } {
  const text = typeof body === "string" ? body : textOfBytes(body);
  const cursor: Cursor = { text, at: 0, valuesLeft: maxValues, names: [] };
  skipSpace(cursor);
  if (cursor.at >= text.length) return { object: emptyObject(), values: 0 };
  if (text[cursor.at] !== "{") throw unexpected(cursor);
  const object = readObject(cursor, 0);
  return { object, values: maxValues - cursor.valuesLeft };
}

type Cursor = {
  readonly text: string;
  at: number;
  valuesLeft: number;
  /** Names by their place in the object read last: the next one of a list has the same. */
  readonly names: string[];
};

/** Inherits nothing. What `Object.create(null)` makes takes four times the memory and time. */
class Bare {
  readonly [name: string]: Json;
}
Object.setPrototypeOf(Bare.prototype, null);
Reflect.deleteProperty(Bare.prototype, "constructor");

function emptyObject(): JsonObject {
  return new Bare();
}

function readObject(cursor: Cursor, depth: number): JsonObject {
  if (depth >= MAX_DEPTH) throw new BadJson("nested too deep");
  const object = emptyObject();
  cursor.at++;
  for (let fields = 0; ; fields++) {
    if (fields > MAX_FIELDS) throw new BadJson("too many fields");
    skipSpace(cursor);
    if (cursor.at >= cursor.text.length) return object;
    const character = cursor.text[cursor.at];
    if (character === "}") break;
    if (character !== '"') throw unexpected(cursor);
    const name = readName(cursor, fields);
    if (!skipTo(cursor, ":")) return object;
    cursor.at++;
    skipSpace(cursor);
    if (cursor.at >= cursor.text.length) return object;
    const value = readValue(cursor, depth);
    // As in the original: a value stays though `null` follows under the same name. Source: portable_storage_from_json.h.
    if (value !== null || !(name in object)) object[name] = value;
    skipSpace(cursor);
    if (cursor.text[cursor.at] === ",") cursor.at++;
    else if (cursor.at < cursor.text.length && cursor.text[cursor.at] !== "}") throw unexpected(cursor);
  }
  cursor.at++;
  return object;
}

function readValue(cursor: Cursor, depth: number): Json {
  const character = cursor.text[cursor.at]!;
  if (character === "[") return readArray(cursor, depth);
  return readSingle(cursor, depth);
}

function countValues(cursor: Cursor, values = 1): void {
  cursor.valuesLeft -= values;
  if (cursor.valuesLeft < 0) throw new BadJson("too many values");
}

function readSingle(cursor: Cursor, depth: number): Json {
  countValues(cursor);
  const character = cursor.text[cursor.at]!;
  if (character === '"') return readString(cursor);
  if (character === "{") return readObject(cursor, depth + 1);
  if (character === "-" || isDigit(character)) return readNumber(cursor);
  return readWord(cursor);
}

function readArray(cursor: Cursor, depth: number): Json[] {
  const items: Json[] = [];
  countValues(cursor);
  cursor.at++;
  skipSpace(cursor);
  if (cursor.text[cursor.at] === "]") {
    cursor.at++;
    return items;
  }
  for (;;) {
    skipSpace(cursor);
    if (cursor.at >= cursor.text.length || cursor.text[cursor.at] === "[") throw unexpected(cursor);
    const item = readSingle(cursor, depth);
    if (item === null || (items.length > 0 && kindOf(item) !== kindOf(items[0]!))) throw unexpected(cursor);
    items.push(item);
    skipSpace(cursor);
    const character = cursor.text[cursor.at++];
    if (character === "]") return items;
    if (character !== ",") throw unexpected(cursor);
  }
}

function kindOf(value: Json): string {
  if (typeof value === "bigint" || value instanceof Real) return "number";
  return typeof value;
}

const NUMBER = /[-+.0-9eE]+/y;
const INTEGER = /^-?[0-9]+$/;
/** As many digits as 2^64 has, after zeros. */
const MAX_SHORT_DIGITS = 15;
/** Codes of what follows a number: a comma, a bracket or brace, space, the end of a line. */
const ENDS_NUMBER: ReadonlySet<number> = new Set([0x2c, 0x5d, 0x7d, 0x20, 0x0d, 0x0a]);
const SHORT_INTEGER = /^-?0*[0-9]{1,20}$/;

function readNumber(cursor: Cursor): Json {
  const digits = readShortInteger(cursor);
  if (digits !== undefined) return digits;
  NUMBER.lastIndex = cursor.at;
  const text = NUMBER.exec(cursor.text)![0];
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

const WORD = /[A-Za-z]+/y;

function readWord(cursor: Cursor): boolean | null {
  WORD.lastIndex = cursor.at;
  const word = WORD.exec(cursor.text)?.[0].toLowerCase();
  if (word === undefined) throw unexpected(cursor);
  cursor.at += word.length;
  if (word === "true") return true;
  if (word === "false") return false;
  if (word === "null") return null;
  throw unexpected(cursor);
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

function readString(cursor: Cursor): string {
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

function escapedLetter(letter: string): string {
  const value = ESCAPED.get(letter);
  if (value === undefined) throw new BadJson("unknown escape");
  return value;
}

function readEscapedString(cursor: Cursor, start: number): string {
  const { text } = cursor;
  let value = "";
  let from = start;
  for (;;) {
    const at = nextSpecial(text, from);
    if (at === -1) throw unexpected(cursor);
    value += text.slice(from, at);
    if (text[at] === '"') {
      cursor.at = at + 1;
      return SURROGATE.test(value) ? keepBadBytes(value) : value;
    }
    countValues(cursor, 1 / ESCAPES_PER_VALUE);
    const letter = text[at + 1];
    if (letter === undefined) throw unexpected(cursor);
    value += letter === "u" ? codeUnit(text, at + 2) : escapedLetter(letter);
    from = at + (letter === "u" ? 6 : 2);
  }
}

function nextSpecial(text: string, from: number): number {
  for (let at = from; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === 0x22 || code === 0x5c) return at;
  }
  return -1;
}

function codeUnit(text: string, at: number): string {
  const digits = text.slice(at, at + 4);
  if (!/^[0-9a-fA-F]{4}$/.test(digits)) throw new BadJson("bad unicode escape");
  return String.fromCharCode(Number.parseInt(digits, 16));
}

const SURROGATE = /[\ud800-\udfff]/;

/** Half surrogate pairs become U+FFFD; the markers of `textOfBytes` for single bytes stay. */
function keepBadBytes(value: string): string {
  return value.replace(
    /[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udc7f\udd00-\udfff]/g,
    "\ufffd",
  );
}

function isDigit(character: string): boolean {
  return character >= "0" && character <= "9";
}

function skipSpace(cursor: Cursor): void {
  const { text } = cursor;
  while (cursor.at < text.length) {
    const code = text.charCodeAt(cursor.at);
    if (code !== 0x20 && !(code >= 0x09 && code <= 0x0d)) return;
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

function unexpected(cursor: Cursor): BadJson {
  return new BadJson(`unexpected character at ${cursor.at}`);
}
