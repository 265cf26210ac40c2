import { isJsonObject, type Json, type JsonObject, textOfBytes } from "../json.ts";
import { parseJson } from "../json-parser.ts";

/** A number of 16 digits or more outside a string, or what looks like one inside. */
const LONG_NUMBER = /[:[,]\s*-?\d{16}/;

/** Histories run long. */
const MAX_ANSWER_VALUES = 1 << 23;

/** Parses a service's answer exactly; by far the most have no long number and are left to the engine. */
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
