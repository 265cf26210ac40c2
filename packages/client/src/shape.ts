import { isJsonObject, type Json } from "./json.ts";

/** A result that is not as its shape says. */
export class BadShape extends Error {}

type Field = { readonly name: string; readonly shape: Shape; readonly absent: "refused" | Absent };
type Absent = { readonly value: unknown };

/** What a value has to be like; each of its readers throws BadShape. */
export type Shape =
  | { readonly kind: "text" | "flag" | "number" | "bigint" }
  | { readonly kind: "list"; readonly item: Shape }
  | { readonly kind: "record"; readonly fields: readonly Field[] }
  | { readonly kind: "either"; readonly shapes: readonly Shape[] };

const letters = { s: "text", b: "flag", i: "number", n: "bigint" } as const;
const zeros = { text: "", flag: false, number: 0, bigint: 0n } as const;

type Cursor = { readonly text: string; at: number };

/** Reads the text of a shape. Grammar: scripts/client/shapes.mjs. */
export function parseShape(text: string): Shape {
  return readShape({ text, at: 0 });
}

function readShape(cursor: Cursor): Shape {
  const character = cursor.text[cursor.at++];
  if (character === "[") {
    const item = readShape(cursor);
    cursor.at++;
    return { kind: "list", item };
  }
  if (character === "{") return { kind: "record", fields: readAll(cursor, { end: "}", read: readField }) };
  if (character === "(") return { kind: "either", shapes: readAll(cursor, { end: ")", read: readShape }) };
  return { kind: letters[character as keyof typeof letters] };
}

/** Each is followed by a character between them, or by the one that ends them. */
function readAll<T>(cursor: Cursor, { end, read }: { end: string; read: (cursor: Cursor) => T }): T[] {
  const items: T[] = [];
  if (cursor.text[cursor.at] === end) cursor.at++;
  else
    do items.push(read(cursor));
    while (cursor.text[cursor.at++] !== end);
  return items;
}

const FIELD = /(\w+)(\?|~("[^"]*"|[\w.]+)?)?:/y;

function readField(cursor: Cursor): Field {
  FIELD.lastIndex = cursor.at;
  const [, name, mark, defaultText] = FIELD.exec(cursor.text)!;
  cursor.at = FIELD.lastIndex;
  const shape = readShape(cursor);
  if (mark === undefined) return { name: name!, shape, absent: "refused" };
  if (mark === "?") return { name: name!, shape, absent: { value: undefined } };
  return {
    name: name!,
    shape,
    absent: { value: defaultText === undefined ? zeroOf(shape) : JSON.parse(defaultText) },
  };
}

function zeroOf(shape: Shape): unknown {
  if (shape.kind === "list") return [];
  if (shape.kind === "either") return zeroOf(shape.shapes[0]!);
  if (shape.kind === "record")
    return Object.fromEntries(shape.fields.map(({ name, shape: inner }) => [name, zeroOf(inner)]));
  return zeros[shape.kind];
}

/** The value with its bigints, and with what services leave out; throws BadShape, which names the field. */
export function readAs(shape: Shape, value: Json, path = "result"): unknown {
  switch (shape.kind) {
    case "record":
      return readRecord(shape.fields, value, path);
    case "list":
      if (!Array.isArray(value)) throw new BadShape(`${path} is no list`);
      return value.map((item, i) => readAs(shape.item, item, `${path}[${i}]`));
    case "either":
      return readEither(shape.shapes, value, path);
    default:
      return readSingle(shape.kind, value, path);
  }
}

function readSingle(kind: keyof typeof zeros, value: Json, path: string): unknown {
  if (kind === "bigint" && (typeof value === "bigint" || Number.isSafeInteger(value)))
    return BigInt(value as number);
  if (kind === "number" && Number.isSafeInteger(value)) return value;
  if (kind === "text" && typeof value === "string") return value;
  if (kind === "flag" && typeof value === "boolean") return value;
  throw new BadShape(`${path} is no ${kind}`);
}

function readEither(shapes: readonly Shape[], value: Json, path: string): unknown {
  for (const shape of shapes) {
    try {
      return readAs(shape, value, path);
    } catch (error) {
      if (!(error instanceof BadShape)) throw error;
    }
  }
  throw new BadShape(`${path} has none of its forms`);
}

/** `null` and `[]` mean what a field that is left out means. */
const isMissing = (value: Json | undefined) =>
  value === undefined || value === null || (Array.isArray(value) && value.length === 0);

function readRecord(fields: readonly Field[], value: Json, path: string): object {
  if (!isJsonObject(value)) throw new BadShape(`${path} is no record`);
  const record: [string, unknown][] = [];
  for (const { name, shape, absent } of fields) {
    const member = Object.hasOwn(value, name) ? value[name] : undefined;
    if (!isMissing(member)) record.push([name, readAs(shape, member!, `${path}.${name}`)]);
    else if (absent === "refused") throw new BadShape(`${path}.${name} is missing`);
    else if (absent.value !== undefined) record.push([name, structuredClone(absent.value)]);
  }
  return Object.fromEntries(record);
}
