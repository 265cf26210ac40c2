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

const PLAIN = /^[ !#-.0-[\]-~]*$/;
const NOT_ASCII = /[^\0-\x7f]/;
const BAD_BYTE = /[\udc80-\udcff]/;

/** JSON string as a byte string. Slashes are escaped, as the original programs do. */
export function quote(text: string): string {
  if (PLAIN.test(text)) return `"${text}"`;
  const byteString = NOT_ASCII.test(text) ? byteStringOf(text) : text;
  const json = JSON.stringify(byteString);
  return json.includes("/") ? json.replaceAll("/", "\\/") : json;
}

/** UTF-8 bytes of `text`, one character per byte; the reverse of `textOfBytes`. */
export function byteStringOf(text: string): string {
  if (!BAD_BYTE.test(text)) return Buffer.from(text, "utf8").toString("latin1");
  // Characters of the text between bad bytes take at most three bytes a code unit.
  const bytes = Buffer.allocUnsafe(3 * text.length);
  let length = 0;
  let from = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    const isPair = code >= 0xd800 && code < 0xdc00 && (text.charCodeAt(at + 1) & 0xfc00) === 0xdc00;
    if (isPair) at++;
    else if (code >= 0xdc80 && code <= 0xdcff) {
      if (from < at) length += bytes.write(text.slice(from, at), length, "utf8");
      bytes[length++] = code - 0xdc00;
      from = at + 1;
    }
  }
  length += bytes.write(text.slice(from), length, "utf8");
  return bytes.toString("latin1", 0, length);
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
function objectText(members: readonly string[], indent: string): string {
  // Long texts are only linked together here; the one copy is made when they are sent.
  let text = "{\r\n";
  for (let i = 0; i < members.length; i++) text += (i === 0 ? "" : ",\r\n") + members[i]!;
  return members.length === 0 ? `${text}${indent}}` : `${text}\r\n${indent}}`;
}

function formatInteger(value: number): string {
  if (!Number.isSafeInteger(value)) throw new RangeError(`not an exact integer: ${value}`);
  return String(value);
}
