import {
  type PortableArray,
  type PortableEntry,
  PortableNames,
  type PortableObject,
  type PortableScalar,
  type PortableValue,
} from "@anulo/protocol";
import type { Dialect } from "../dialect.ts";
import { BadRequest } from "../errors.ts";
import { isJsonObject, type Json } from "../json.ts";
import { Columns, createColumnsWriter } from "./columns.ts";
import { createEncodings, createTemplates, fieldsOf, Lasting, type MemberWriter } from "./lasting.ts";
import {
  type AnySchema,
  type DescribedAs,
  type Fields,
  type InputOf,
  type JsonSchema,
  type Presence,
  putValue,
  type Reading,
  type RecordInputOf,
  type RecordOf,
  type Schema,
  scalarOf,
  type TypeOf,
} from "./schema.ts";
import { bytesOfText, type TextBytes, type TextWords, textWords } from "./text-bytes.ts";
import { type Elements, writtenPortable, writtenText } from "./written.ts";

/** Named fields. Used for requests and responses, and for JSON and binary paths. */
export interface RecordSchema<F extends Fields>
  extends Schema<RecordOf<F>, RecordInputOf<F> | Lasting<RecordInputOf<F>>, false> {
  readonly fields: F;
  /** Reads a list of such records in portable storage; undefined for other values. */
  readPortableList(value: PortableValue, reading: Reading): RecordOf<F>[] | undefined;
}

/** Declares a record; unknown fields of a request are ignored. */
export function object<const F extends Fields>(fields: F): RecordSchema<F> {
  const declared = new PortableNames(Object.keys(fields));
  const { names } = declared;
  const members = names.map((name) => fields[name]!);
  const layoutAt = createLayouts(names);
  const writeLasting = createTemplates();
  const encodeLasting = createEncodings();
  const putMember: MemberWriter = (at, record, { out, indent, isFirst }) => {
    const schema = members[at]!;
    const value = valueToWrite(schema, record[names[at]!], out.dialect);
    if (value === undefined) return false;
    const { first, next, inner } = layoutAt(indent);
    out.words((isFirst ? first : next)[at]!);
    putValue(schema, value, out, inner);
    return true;
  };
  const readValues = (values: readonly (PortableValue | undefined)[], reading: Reading) =>
    readPortableFields(names, fields, { values, reading }) as RecordOf<F>;
  const put = (value: object, out: TextBytes, indent: string): void => {
    if (value instanceof Lasting) return void writeLasting(value, { names, putMember, out, indent });
    const { first, next, inner, end, empty } = layoutAt(indent);
    const record = value as Readonly<Record<string, unknown>>;
    let labels = first;
    for (let at = 0; at < names.length; at++) {
      const schema = members[at]!;
      const member = valueToWrite(schema, record[names[at]!], out.dialect);
      if (member === undefined) continue;
      out.words(labels[at]!);
      putValue(schema, member, out, inner);
      labels = next;
    }
    out.words(labels === first ? empty : end);
  };
  return {
    kind: "object",
    omittable: false,
    presence: "always",
    fields,
    absent: () => Object.fromEntries(names.map((name) => [name, fields[name]!.absent()])) as RecordOf<F>,
    absentInAnswer: false,
    read: (value, reading) => readFields(names, fields, value, reading) as RecordOf<F>,
    write: (value, dialect, indent) =>
      bytesOfText(dialect, (out) => put(value, out, indent)).toString("latin1"),
    put,
    readPortable: (object, reading) => readValues(object.fields(declared) ?? notAnObject(), reading),
    readPortableList: (list, reading) => list.mapFields(declared, (values) => readValues(values, reading)),
    writePortable: (value) => ({
      type: "object",
      value:
        value instanceof Lasting
          ? encodeLasting(value, () => writePortableFields(names, fields, fieldsOf(value)))
          : writePortableFields(names, fields, value as Record<string, unknown>),
    }),
    isEmpty: () => false,
    describe: (as) => describeFields(fields, as),
  };
}

/** The parts that are the same in all texts of a record at one indent. */
interface RecordLayout {
  /** Indent of the fields. */
  readonly inner: string;
  /** The text before the value of each field if it is the first one, and if others precede it. */
  readonly first: readonly TextWords[];
  readonly next: readonly TextWords[];
  readonly end: TextWords;
  /** A record without fields. */
  readonly empty: TextWords;
}

/** Created once for each of the few indents in use. */
function createLayouts(names: readonly string[]): (indent: string) => RecordLayout {
  const layouts: RecordLayout[] = [];
  return (indent) => {
    const cached = layouts[indent.length];
    if (cached !== undefined) return cached;
    const inner = `${indent}  `;
    const layout = {
      inner,
      first: names.map((name) => textWords(`{\r\n${inner}"${name}": `)),
      next: names.map((name) => textWords(`,\r\n${inner}"${name}": `)),
      end: textWords(`\r\n${indent}}`),
      empty: textWords(`{\r\n${indent}}`),
    };
    layouts[indent.length] = layout;
    return layout;
  };
}

function readFields(names: readonly string[], fields: Fields, value: Json, reading: Reading): object {
  if (!isJsonObject(value)) notAnObject();
  const record: Record<string, unknown> = {};
  for (const name of names) {
    const schema = fields[name]!;
    const member = Object.hasOwn(value, name) ? value[name]! : null;
    if (isMissing(member)) {
      if (reading.of === "answer" && !schema.absentInAnswer) throw new BadRequest("missing", [name]);
      record[name] = schema.absent();
      continue;
    }
    try {
      record[name] = schema.read(member, reading);
    } catch (error) {
      throw error instanceof BadRequest ? error.within(name) : error;
    }
  }
  return record;
}

function readPortableFields(
  names: readonly string[],
  fields: Fields,
  { values, reading }: { readonly values: readonly (PortableValue | undefined)[]; readonly reading: Reading },
): object {
  const record: Record<string, unknown> = {};
  for (let at = 0; at < names.length; at++) {
    const name = names[at]!;
    const schema = fields[name]!;
    const value = values[at];
    try {
      if (value === undefined) checkMayMiss(schema, reading);
      record[name] = value === undefined ? schema.absent() : schema.readPortable(value, reading);
    } catch (error) {
      throw error instanceof BadRequest ? error.within(name) : error;
    }
  }
  return record;
}

function notAnObject(): never {
  throw new BadRequest("not an object");
}

function checkMayMiss(schema: AnySchema, reading: Reading): void {
  if (reading.of === "answer" && !schema.absentInAnswer) throw new BadRequest("missing");
}

function writePortableFields(
  names: readonly string[],
  fields: Fields,
  record: Readonly<Record<string, unknown>>,
): PortableObject {
  const entries = new Map<string, PortableEntry>();
  for (const name of names) {
    const schema = fields[name]!;
    const value = valueToWrite(schema, record[name], "upstream");
    const entry = value === undefined ? undefined : schema.writePortable(value);
    if (entry !== undefined) entries.set(name, entry);
  }
  return entries;
}

/** `null` and `[]` are treated like a missing field. */
function isMissing(value: Json): boolean {
  return value === null || (Array.isArray(value) && value.length === 0);
}

/** The value of a field, its default, or undefined when it is to be left out. */
function valueToWrite(schema: AnySchema, input: unknown, dialect: Dialect): unknown {
  const value = input === undefined && schema.omittable ? schema.absent() : input;
  if (value === undefined) {
    if (schema.omittable) return undefined;
    throw new TypeError(`a field of kind ${schema.kind} is missing`);
  }
  if (schema.presence === "always" || !schema.isEmpty(value)) return value;
  return schema.presence === "omitEmpty" || dialect === "upstream" ? undefined : value;
}

const asRequest: DescribedAs = { of: "request", dialect: "contract" };

function describeFields(fields: Fields, as: DescribedAs = asRequest): JsonSchema {
  const names = Object.keys(fields);
  const isRequired = (name: string) =>
    as.of === "request" ? !fields[name]!.omittable : isAlwaysWritten(fields[name]!, as.dialect);
  const required = names.filter(isRequired);
  const properties = Object.fromEntries(names.map((name) => [name, describeField(fields[name]!, as)]));
  return { type: "object", properties, ...(required.length > 0 && { required }) };
}

/** Whether each response has the field. */
function isAlwaysWritten({ presence, omittable, absent }: AnySchema, dialect: Dialect): boolean {
  if (omittable && absent() === undefined) return false;
  return presence === "always" || (presence === "contract" && dialect === "contract");
}

/** A field of a request with its default, or of an answer with the dialects that leave it out when it is empty. */
function describeField(schema: AnySchema, as: DescribedAs): JsonSchema {
  const described = schema.describe(as);
  const { omittable, presence } = schema;
  if (as.of === "request") {
    const value = omittable ? schema.absent() : undefined;
    const isJson = typeof value !== "object" || (Array.isArray(value) && described.type === "array");
    return value === undefined || !isJson ? described : { ...described, default: value };
  }
  if (presence === "always") return described;
  return { ...described, "x-omitted-when-empty": presence === "contract" ? "upstream" : "both" };
}

/** A list of values of one kind. */
export interface ListSchema<S extends AnySchema>
  extends Schema<TypeOf<S>[], Elements<InputOf<S>> | Columns<TypeOf<S>>, false> {
  readonly item: S;
  /** Reads a list as `read` does, an element a step. */
  readSteps(values: readonly Json[], reading: Reading): Generator<void, TypeOf<S>[]>;
}

/** Whether a field is declared as a list. */
export function isListSchema(schema: AnySchema | undefined): schema is ListSchema<AnySchema> {
  return schema?.kind === "list" && "item" in schema;
}

const [OPEN, COMMA, CLOSE] = [0x5b, 0x2c, 0x5d];

/** Only lists of records have a columns writer. */
function columnsWriterOf(item: AnySchema) {
  const { fields } = item as Partial<RecordSchema<Fields>>;
  return fields === undefined ? undefined : createColumnsWriter(fields);
}

/**
 * A list; an empty one is present in the contract dialect and left out upstream (S10). As in the original programs,
 * requests are read leniently: a value that is not a list, or not a list of records if records are declared, counts as
 * left out.
 */
export function list<S extends AnySchema>(item: S): ListSchema<S> {
  const columnsWriter = columnsWriterOf(item);
  const put = (value: Elements<InputOf<S>> | Columns<TypeOf<S>>, out: TextBytes, indent: string): void => {
    if (value instanceof Columns) return void columnsWriter!.put(value, out, indent);
    const text = writtenText(value);
    if (text !== undefined) return void out.add(text);
    out.byte(OPEN);
    for (let i = 0; i < value.length; i++) {
      if (i > 0) out.byte(COMMA);
      putValue(item, value.at(i)!, out, indent);
    }
    out.byte(CLOSE);
  };
  const elementsOf = (values: readonly Json[], reading: Reading) =>
    reading.of === "request" && item.kind === "object" && !isJsonObject(values[0]) ? [] : values;
  return {
    kind: "list",
    item,
    omittable: false,
    presence: "contract",
    absent: () => [],
    absentInAnswer: true,
    read: (value, reading) => {
      if (!Array.isArray(value)) return readScalarAsList(reading);
      return elementsOf(value, reading).map((element) => item.read(element, reading)) as TypeOf<S>[];
    },
    *readSteps(values, reading) {
      const elements: TypeOf<S>[] = [];
      for (const element of elementsOf(values, reading)) {
        elements.push(item.read(element, reading) as TypeOf<S>);
        yield;
      }
      return elements;
    },
    write: (value, dialect, indent) =>
      bytesOfText(dialect, (out) => put(value, out, indent)).toString("latin1"),
    put,
    readPortable: (entry, reading) => {
      if (!entry.isArray) return readScalarAsList(reading);
      const records = (item as Partial<RecordSchema<Fields>>).readPortableList?.(entry, reading);
      return (records ?? entry.map((value) => item.readPortable(value, reading))) as TypeOf<S>[];
    },
    writePortable: (value) => {
      if (value instanceof Columns) return columnsWriter!.portable(value);
      const portable = writtenPortable(value);
      if (portable !== undefined) return portable;
      let type: PortableScalar["type"] | undefined;
      const values: PortableScalar["value"][] = [];
      for (let i = 0; i < value.length; i++) {
        const entry = scalarOf(item.writePortable(value.at(i)!)!);
        type ??= entry.type;
        values.push(entry.value);
      }
      return type === undefined ? undefined : ({ type, values } as PortableArray);
    },
    isEmpty: (value) => value.length === 0,
    describe: (as) => ({ type: "array", items: item.describe(as) }),
  };
}

function readScalarAsList(reading: Reading): never[] {
  if (reading.of === "request") return [];
  throw new BadRequest("not a list");
}

/** May be left out; then undefined. */
export function optional<Out, In>(schema: Schema<Out, In>): Schema<Out | undefined, In | undefined, true> {
  return {
    ...schema,
    omittable: true,
    absent: () => undefined,
    absentInAnswer: true,
    write: (value, dialect, indent) => schema.write(value as In, dialect, indent),
    writePortable: (value) => schema.writePortable(value as In),
    isEmpty: (value) => value === undefined || schema.isEmpty(value),
  };
}

/** May be left out; then `value`. */
export function or<Out, In>(schema: Schema<Out, In>, value: Out & In): Schema<Out, In, true> {
  return {
    ...schema,
    omittable: true,
    absent: () => value,
    absentInAnswer: true,
    write: (input, dialect, indent) => schema.write(input, dialect, indent),
    isEmpty: (input) => input === value || (schema.isEmpty(value) && schema.isEmpty(input)),
  };
}

/** May be left out of a request; then its zero value. */
export function zero<Out, In>(schema: Schema<Out, In>): Schema<Out, In, true> {
  return { ...or(schema, schema.absent() as Out & In), absent: () => schema.absent() };
}

/** Left out of a response in both dialects while empty or at its default. */
export function omitEmpty<Out, In, O extends boolean>(schema: Schema<Out, In, O>): Schema<Out, In, O> {
  return withPresence(schema, "omitEmpty");
}

/** An optional number of a response: 0 is present in the contract dialect and left out upstream (S10). */
export function contractZero<Out, In, O extends boolean>(schema: Schema<Out, In, O>): Schema<Out, In, O> {
  return withPresence(schema, "contract");
}

/** Always written, even if it is an empty list. */
export function always<Out, In, O extends boolean>(schema: Schema<Out, In, O>): Schema<Out, In, O> {
  return withPresence(schema, "always");
}

function withPresence<Out, In, O extends boolean>(
  schema: Schema<Out, In, O>,
  presence: Presence,
): Schema<Out, In, O> {
  return { ...schema, presence, absentInAnswer: true };
}
