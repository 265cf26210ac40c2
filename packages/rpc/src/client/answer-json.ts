import { textOfBytes } from "../body-text.ts";
import { isJsonObject, type Json, type JsonObject } from "../json.ts";
import { parseJson } from "../json-parser.ts";

/** Matches a number of 16 digits or more outside a string, or text inside one that looks like it. */
const LONG_NUMBER = /[:[,]\s*-?\d{16}/;

/** Maximum number of values: histories can be long. */
const MAX_ANSWER_VALUES = 1 << 23;

/** Parses a service's response exactly; most responses have no long number and are parsed by the engine. */
export function parseAnswer(body: Uint8Array): JsonObject {
  const text = textOfBytes(body);
  if (!LONG_NUMBER.test(text)) {
    const value = parseFast(text);
    if (isJsonObject(value)) return value;
  }
  return parseJson(text, MAX_ANSWER_VALUES);
}

function parseFast(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
