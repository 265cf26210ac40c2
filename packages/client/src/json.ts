/** JSON whose integers are exact: those beyond 2^53 - 1 are bigint. */
export type Json = null | boolean | number | bigint | string | Json[] | { [name: string]: Json };
export type JsonObject = { [name: string]: Json };

export const isJsonObject = (value: unknown): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** A number of 16 digits or more, or what looks like one inside a string. */
const LONG_NUMBER = /[:[,]\s*-?\d{16}/;

/** Parses strict JSON without loss; throws SyntaxError. By far the most texts have no long number: the engine parses them. */
export function parseJson(text: string): Json {
  return LONG_NUMBER.test(text) ? parseExact(text) : (JSON.parse(text) as Json);
}

/** Nested more deeply than any result; the parser calls itself. */
const MAX_DEPTH = 200;

type Cursor = { readonly text: string; at: number };

function parseExact(text: string): Json {
  const cursor = { text, at: 0 };
  const value = readValue(cursor, 0);
  skipSpace(cursor);
  if (cursor.at < text.length) throw unexpected(cursor);
  return value;
}

const unexpected = ({ at }: Cursor) => new SyntaxError(`unexpected character at ${at}`);

const SPACE = /[ \t\r\n]*/y;

function skipSpace(cursor: Cursor): void {
  SPACE.lastIndex = cursor.at;
  SPACE.exec(cursor.text);
  cursor.at = SPACE.lastIndex;
}

/** Whether `character` comes next; it is taken. */
function takes(cursor: Cursor, character: string): boolean {
  skipSpace(cursor);
  if (cursor.text[cursor.at] !== character) return false;
  cursor.at++;
  return true;
}

function readValue(cursor: Cursor, depth: number): Json {
  if (depth > MAX_DEPTH) throw new SyntaxError("nested too deeply");
  if (takes(cursor, "{")) return readObject(cursor, depth + 1);
  if (takes(cursor, "[")) return readArray(cursor, depth + 1);
  if (cursor.text[cursor.at] === '"') return readString(cursor);
  return readWord(cursor);
}

function readObject(cursor: Cursor, depth: number): JsonObject {
  const members: [string, Json][] = [];
  if (takes(cursor, "}")) return {};
  do {
    skipSpace(cursor);
    if (cursor.text[cursor.at] !== '"') throw unexpected(cursor);
    const name = readString(cursor);
    if (!takes(cursor, ":")) throw unexpected(cursor);
    members.push([name, readValue(cursor, depth)]);
  } while (takes(cursor, ","));
  if (!takes(cursor, "}")) throw unexpected(cursor);
  return Object.fromEntries(members);
}

function readArray(cursor: Cursor, depth: number): Json[] {
  const items: Json[] = [];
  if (takes(cursor, "]")) return items;
  do items.push(readValue(cursor, depth));
  while (takes(cursor, ","));
  if (!takes(cursor, "]")) throw unexpected(cursor);
  return items;
}

/** To the quote that ends it, whose escapes before it are even in number. */
function readString(cursor: Cursor): string {
  const { text, at } = cursor;
  let end = at;
  let escapes: number;
  do {
    end = text.indexOf('"', end + 1);
    if (end === -1) throw unexpected(cursor);
    escapes = 0;
    while (text[end - 1 - escapes] === "\\") escapes++;
  } while (escapes % 2 === 1);
  cursor.at = end + 1;
  return JSON.parse(text.slice(at, end + 1)) as string;
}

const WORD = /true|false|null|-?(?:0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?/y;
/** Of 64 bits; to make a number of a megabyte of digits takes seconds. */
const MAX_DIGITS = 40;

function readWord(cursor: Cursor): Json {
  WORD.lastIndex = cursor.at;
  const match = WORD.exec(cursor.text);
  if (match === null) throw unexpected(cursor);
  const [word, fraction, exponent] = match;
  cursor.at = WORD.lastIndex;
  if (/^[tfn]/.test(word)) return JSON.parse(word) as Json;
  const isInteger = fraction === undefined && exponent === undefined;
  if (!isInteger || Number.isSafeInteger(Number(word))) return Number(word);
  if (word.length > MAX_DIGITS) throw new SyntaxError("a number is too long");
  return BigInt(word);
}

/** JSON text of params: bigints as digits, members that are undefined left out. Throws TypeError for what JSON has not. */
export function formatJson(value: unknown): string {
  if (typeof value === "bigint") return value.toString();
  if (typeof value === "number" && !Number.isFinite(value))
    throw new TypeError(`${value} is no number of JSON`);
  if (typeof value === "string" || typeof value === "number" || typeof value === "boolean" || value === null)
    return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(formatJson).join(",")}]`;
  if (typeof value !== "object") throw new TypeError(`a ${typeof value} is no JSON`);
  const members = Object.entries(value).filter(([, member]) => member !== undefined);
  return `{${members.map(([name, member]) => `${JSON.stringify(name)}:${formatJson(member)}`).join(",")}}`;
}
