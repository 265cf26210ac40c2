import { textOfBytes } from "./body-text.ts";
import { BadJson, type Json, type JsonObject, Real } from "./json.ts";
import {
  type Cursor,
  countValues,
  isDigit,
  readFieldName,
  readNumber,
  readString,
  readWord,
  skipSpace,
  unexpected,
} from "./json-tokens.ts";

/**
 * Deepest nesting of objects. Source: portable_storage_base.h EPEE_JSON_RECURSION_LIMIT_INTERNAL.
 */
const MAX_DEPTH = 100;
/** Each takes up to a hundred times its bytes of memory: half a million outputs with two fields and more fit. */
const MAX_VALUES = 1 << 21;
/** Fields of one object: of many different names each takes ten times as long as a value. */
const MAX_FIELDS = 4096;
/** Characters of a step: some hundred values at most. */
const STEP_CHARACTERS = 1024;

/**
 * Parses one JSON object with exact 64-bit integers, as the original programs read JSON: arrays hold one kind of
 * value and no arrays, a comma may trail, an object may end with the text if no value is left open, and what
 * follows the object is ignored. Throws BadJson, also for more values than `maxValues`.
 * Source: contrib/epee/include/storages/portable_storage_from_json.h; recordings `node_http`.
 */
export function parseJson(body: Uint8Array | string, maxValues = MAX_VALUES): JsonObject {
  const reader = new JsonReader(typeof body === "string" ? body : textOfBytes(body), maxValues);
  while (!reader.step());
  return reader.object;
}

/** A parsed object, with the number of values in it. */
export type CountedJson = { readonly object: JsonObject; readonly values: number };

/** Parses a text as `parseJson` does, in steps; `onValues` is called with the number of values so far before each pause. */
export function* jsonSteps(
  text: string,
  maxValues: number,
  onValues?: (values: number) => void,
): Generator<void, CountedJson> {
  const reader = new JsonReader(text, maxValues);
  let from = 0;
  while (!reader.step()) {
    if (reader.at - from < STEP_CHARACTERS) continue;
    from = reader.at;
    onValues?.(reader.values);
    yield;
  }
  return { object: reader.object, values: reader.values };
}

/** Inherits nothing. What `Object.create(null)` makes takes four times the memory and time. */
class Bare {
  readonly [name: string]: Json;
}
Object.setPrototypeOf(Bare.prototype, null);
Reflect.deleteProperty(Bare.prototype, "constructor");

function emptyObject(): JsonObject {
  return new Bare();
}

/** An object that is being read, and the field that its next value belongs to. */
type OpenObject = { readonly object: JsonObject; fields: number; name: string };
/** A list that is being read. */
type OpenList = { readonly items: Json[] };

/** Reads a text element by element, so that whoever calls may pause between any two. */
class JsonReader {
  readonly object = emptyObject();
  readonly #cursor: Cursor;
  readonly #maxValues: number;
  /** What the next element belongs to, and what that is in; empty once all is read. */
  readonly #open: (OpenObject | OpenList)[] = [];
  /** Objects among them. */
  #depth = 0;

  constructor(text: string, maxValues: number) {
    this.#cursor = { text, at: 0, valuesLeft: maxValues, names: [] };
    this.#maxValues = maxValues;
    skipSpace(this.#cursor);
    if (this.at >= text.length) return;
    if (text[this.at] !== "{") throw unexpected(this.#cursor);
    this.#openObject(this.object);
  }

  /** The place in the text. */
  get at(): number {
    return this.#cursor.at;
  }

  /** Number of values read so far. */
  get values(): number {
    return this.#maxValues - this.#cursor.valuesLeft;
  }

  /** Reads one element, or the beginning of one that has elements itself; true once all are read. */
  step(): boolean {
    const open = this.#open.at(-1);
    if (open === undefined) return true;
    if ("items" in open) this.#readItem();
    else this.#readField(open);
    return this.#open.length === 0;
  }

  #openObject(object: JsonObject): void {
    if (this.#depth >= MAX_DEPTH) throw new BadJson("nested too deep");
    this.#depth++;
    this.#cursor.at++;
    this.#open.push({ object, fields: 0, name: "" });
  }

  #endObject({ object }: OpenObject): void {
    this.#depth--;
    this.#open.pop();
    this.#put(object);
  }

  #readField(open: OpenObject): void {
    const cursor = this.#cursor;
    if (open.fields > MAX_FIELDS) throw new BadJson("too many fields");
    const name = readFieldName(cursor, open.fields);
    if (name === undefined) return void this.#endObject(open);
    open.name = name;
    if (cursor.text[cursor.at] === "[") this.#openList();
    else this.#readSingle();
  }

  #openList(): void {
    const cursor = this.#cursor;
    countValues(cursor);
    cursor.at++;
    skipSpace(cursor);
    if (cursor.text[cursor.at] !== "]") return void this.#open.push({ items: [] });
    cursor.at++;
    this.#put([]);
  }

  #readItem(): void {
    const cursor = this.#cursor;
    skipSpace(cursor);
    if (cursor.at >= cursor.text.length || cursor.text[cursor.at] === "[") throw unexpected(cursor);
    this.#readSingle();
  }

  #readSingle(): void {
    const cursor = this.#cursor;
    countValues(cursor);
    const character = cursor.text[cursor.at]!;
    if (character === "{") this.#openObject(emptyObject());
    else if (character === '"') this.#put(readString(cursor));
    else if (character === "-" || isDigit(character)) this.#put(readNumber(cursor));
    else this.#put(readWord(cursor));
  }

  /** Puts a value that is whole where it belongs, and reads what separates it from the next. */
  #put(value: Json): void {
    const open = this.#open.at(-1);
    if (open === undefined) return;
    if ("items" in open) this.#putItem(open, value);
    else this.#putField(open, value);
  }

  #putField(open: OpenObject, value: Json): void {
    const cursor = this.#cursor;
    const { object, name } = open;
    // As in the original: a value stays though `null` follows under the same name. Source: portable_storage_from_json.h.
    if (value !== null || !(name in object)) object[name] = value;
    open.fields++;
    skipSpace(cursor);
    if (cursor.text[cursor.at] === ",") cursor.at++;
    else if (cursor.at < cursor.text.length && cursor.text[cursor.at] !== "}") throw unexpected(cursor);
  }

  #putItem({ items }: OpenList, value: Json): void {
    const cursor = this.#cursor;
    if (value === null || (items.length > 0 && kindOf(value) !== kindOf(items[0]!))) throw unexpected(cursor);
    items.push(value);
    skipSpace(cursor);
    const character = cursor.text[cursor.at++];
    if (character === "]") {
      this.#open.pop();
      this.#put(items);
    } else if (character !== ",") throw unexpected(cursor);
  }
}

function kindOf(value: Json): string {
  if (typeof value === "bigint" || value instanceof Real) return "number";
  return typeof value;
}
