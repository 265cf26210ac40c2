import { isUtf8 } from "node:buffer";

/** A JSON number written with a point or an exponent; never an amount or a height. */
export class Real {
  readonly value: number;

  constructor(value: number) {
    this.value = value;
  }
}

/** Parsed JSON. Integers above 2^53-1 are bigint, others number; numbers with a fraction are `Real`. */
export type Json = null | boolean | number | bigint | string | Real | Json[] | JsonObject;
export type JsonObject = { [key: string]: Json };

export function isJsonObject(value: Json | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value) && !(value instanceof Real);
}

/** Thrown for text that is not the JSON the services accept. */
export class BadJson extends Error {
  override name = "BadJson";
}

/** Text of a body; bytes that are not UTF-8 become lone surrogates U+DC80..U+DCFF and keep their value. */
export function textOfBytes(bytes: Uint8Array): string {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  if (isUtf8(buffer)) return buffer.toString("utf8");
  return escapeBadBytes(buffer);
}

function escapeBadBytes(buffer: Buffer): string {
  let text = "";
  let at = 0;
  while (at < buffer.length) {
    const length = sequenceLength(buffer, at);
    if (length === 0) text += String.fromCharCode(0xdc00 + buffer[at]!);
    else text += buffer.toString("utf8", at, at + length);
    at += length || 1;
  }
  return text;
}

/** Length of the valid UTF-8 sequence at `at`, or 0. */
function sequenceLength(buffer: Buffer, at: number): number {
  const first = buffer[at]!;
  const length = first < 0x80 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
  return at + length <= buffer.length && isUtf8(buffer.subarray(at, at + length)) ? length : 0;
}

const PLAIN = /^[ !#-.0-[\]-~]*$/;
const NOT_ASCII = /[^\0-\x7f]/;
const BAD_BYTE = /[\udc80-\udcff]/;

/** JSON string as a byte string. Slashes are escaped, as the original programs do. */
export function quote(text: string): string {
  if (PLAIN.test(text)) return `"${text}"`;
  const byteString = NOT_ASCII.test(text) ? byteStringOf(text) : text;
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are the characters JSON must escape
  return `"${byteString.replace(/[\0-\x1f"\\/]/g, escapeCharacter)}"`;
}

function escapeCharacter(character: string): string {
  return character === "/" ? "\\/" : JSON.stringify(character).slice(1, -1);
}

const shortEscapes: Readonly<Record<string, string>> = {
  "\b": "\\b",
  "\f": "\\f",
  "\n": "\\n",
  "\r": "\\r",
  "\t": "\\t",
  "\v": "\\v",
  '"': '\\"',
  "\\": "\\\\",
  "/": "\\/",
};

/**
 * String of raw bytes given as a byte string. Like the original programs' it is not strict JSON: every byte without
 * a short escape is left as it is.
 * Source: contrib/epee/src/parserse_base_utils.cpp.
 */
export function quoteBytes(byteString: string): string {
  return `"${byteString.replace(/[\b\f\n\r\t\v"\\/]/g, (character) => shortEscapes[character]!)}"`;
}

/** UTF-8 bytes of `text`, one character per byte; the reverse of `textOfBytes`. */
export function byteStringOf(text: string): string {
  if (!BAD_BYTE.test(text)) return Buffer.from(text, "utf8").toString("latin1");
  let bytes = "";
  for (const character of text) {
    const code = character.codePointAt(0)!;
    if (code >= 0xdc80 && code <= 0xdcff) bytes += String.fromCharCode(code - 0xdc00);
    else bytes += Buffer.from(character, "utf8").toString("latin1");
  }
  return bytes;
}

const INDENT = "  ";

/** Any parsed JSON value as a byte string, laid out as the original programs do. */
export function formatJson(value: Json, indent = ""): string {
  if (value === null || typeof value === "boolean" || typeof value === "bigint") return String(value);
  if (typeof value === "number") return formatInteger(value);
  if (typeof value === "string") return quote(value);
  if (value instanceof Real) return String(value.value);
  if (Array.isArray(value)) return `[${value.map((item) => formatJson(item, indent)).join(",")}]`;
  const inner = indent + INDENT;
  const members = Object.keys(value).map((key) => `${inner}${quote(key)}: ${formatJson(value[key]!, inner)}`);
  return objectText(members, indent);
}

/** The braces around members that are already indented. */
export function objectText(members: readonly string[], indent: string): string {
  // Long texts are only linked together here; the one copy is made when they are sent.
  let text = "{\r\n";
  for (let i = 0; i < members.length; i++) text += (i === 0 ? "" : ",\r\n") + members[i]!;
  return members.length === 0 ? `${text}${indent}}` : `${text}\r\n${indent}}`;
}

function formatInteger(value: number): string {
  if (!Number.isSafeInteger(value)) throw new RangeError(`not an exact integer: ${value}`);
  return String(value);
}
