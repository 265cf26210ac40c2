import { type Json, Real } from "../json.ts";

/** Bytes that the id of a message may take in its response: clients number their messages, or name them by a UUID. */
const MAX_ID_BYTES = 4096;
/** Characters of the longest number, and of an escaped character. */
const NUMBER_CHARACTERS = 24;
const ESCAPED_CHARACTERS = 6;
/** Quotes, colon, comma, space and line end around a member of an object. */
const MEMBER_CHARACTERS = 8;
const INDENT_CHARACTERS = 2;

/**
 * Whether an id may be repeated in a response. Any value may be one, as in the original; but deep in an object each of
 * its few characters would come back with a line and its indentation, a hundred times as many.
 */
export function isShortId(id: Json): boolean {
  return bytesLeft(id, 1, MAX_ID_BYTES) >= 0;
}

/** What is left of `bytes` behind a value; negative, without looking at the rest, once they are used up. */
function bytesLeft(value: Json, depth: number, bytes: number): number {
  if (typeof value === "string") return bytes - ESCAPED_CHARACTERS * value.length;
  if (value === null || typeof value !== "object" || value instanceof Real) return bytes - NUMBER_CHARACTERS;
  const isList = Array.isArray(value);
  let left = bytes - MEMBER_CHARACTERS - INDENT_CHARACTERS * depth;
  for (const name in value) {
    if (left < 0) break;
    if (!isList) left -= MEMBER_CHARACTERS + INDENT_CHARACTERS * depth + ESCAPED_CHARACTERS * name.length;
    left = bytesLeft((value as Readonly<Record<string, Json>>)[name]!, depth + 1, left);
  }
  return left;
}
