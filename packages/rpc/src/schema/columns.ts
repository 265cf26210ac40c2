import { encodedObjects, type PortableArray, type PortableEntry, writePortable } from "@anulo/protocol";
import type { AnySchema, Fields } from "./schema.ts";
import { type TextBytes, textWords } from "./text-bytes.ts";

/** Values of one field: whole numbers, or a fixed number of bytes per record (a boolean is one byte, 0 or 1). */
export type Column = Float64Array | Uint8Array;

/**
 * A list of small records stored column by column, for lists of hundreds that are requested often: neither the handler
 * nor the writer creates an object per record. A field without column is empty in all of them.
 */
export class Columns<T> {
  readonly length: number;
  readonly columns: { readonly [K in keyof T]?: Column };

  constructor(length: number, columns: { readonly [K in keyof T]?: Column }) {
    this.length = length;
    this.columns = columns;
  }
}

/** Creates a list of `length` records. */
export function columns<T>(length: number, values: { readonly [K in keyof T]?: Column }): Columns<T> {
  return new Columns(length, values);
}

/** The positions of a column's values among the bytes of records of equal length. */
interface Slots {
  readonly target: DataView;
  /** Offset of the first value. */
  readonly offset: number;
  readonly recordBytes: number;
  readonly valueBytes: number;
}

/** How the values of a kind of field are serialized. */
interface ColumnKind {
  /** Writes the JSON text of a value. */
  readonly put?: (column: Column, at: number, out: TextBytes) => void;
  /** An entry with space for a value, and the function that fills it. */
  readonly room?: (valueBytes: number) => PortableEntry;
  readonly fill?: (column: Column, slots: Slots) => void;
}

const WORD_BYTES = 4;
const [TRUE, FALSE] = [textWords("true"), textWords("false")];

function viewOf({ buffer, byteOffset, byteLength }: Column): DataView {
  return new DataView(buffer, byteOffset, byteLength);
}

/** Copies word by word, since a call per value or a step per byte would be slower. */
function fillBytes(column: Column, { target, offset, recordBytes, valueBytes }: Slots): void {
  const source = viewOf(column);
  const words = valueBytes - (valueBytes % WORD_BYTES);
  for (let from = 0, at = offset; from < source.byteLength; from += valueBytes, at += recordBytes) {
    for (let i = 0; i < words; i += WORD_BYTES) target.setUint32(at + i, source.getUint32(from + i));
    for (let i = words; i < valueBytes; i++) target.setUint8(at + i, source.getUint8(from + i));
  }
}

function fillNumbers(column: Column, { target, offset, recordBytes }: Slots): void {
  for (let i = 0, at = offset; i < column.length; i++, at += recordBytes) {
    target.setUint32(at, column[i]!, true);
    target.setUint32(at + 4, column[i]! / 2 ** 32, true);
  }
}

const HASH_BYTES = 32;

const kinds: Readonly<Record<string, ColumnKind>> = {
  uint: {
    put: (column, at, out) => out.integer(column[at]!),
    room: () => ({ type: "uint64", value: 0n }),
    fill: fillNumbers,
  },
  flag: {
    put: (column, at, out) => out.words(column[at] === 1 ? TRUE : FALSE),
    room: () => ({ type: "bool", value: false }),
    fill: fillBytes,
  },
  hash: {
    put: (column, at, out) => out.hex(column, HASH_BYTES * at, HASH_BYTES),
  },
  rawBytes: {
    room: (valueBytes) => ({ type: "string", value: new Uint8Array(valueBytes) }),
    fill: fillBytes,
  },
};

function partOf<P extends keyof ColumnKind>(schema: AnySchema, part: P): NonNullable<ColumnKind[P]> {
  const column = kinds[schema.kind]?.[part];
  if (column === undefined || schema.presence !== "always")
    throw new TypeError(`a field of kind ${schema.kind} is in no column (${part})`);
  return column;
}

type ColumnsByName = Readonly<Record<string, Column | undefined>>;

/** Serializes lists of records with these fields that are stored as columns. */
export interface ColumnsWriter {
  /** Writes the list as JSON text; `indent` is that of a record. */
  put(value: Columns<unknown>, out: TextBytes, indent: string): void;
  /** The list in portable storage; undefined for an empty list. */
  portable(value: Columns<unknown>): PortableArray | undefined;
}

/** Creates a writer to be used for one list schema, so that the layout of a record is determined once. */
export function createColumnsWriter(fields: Fields): ColumnsWriter {
  const names = Object.keys(fields).sort();
  let layout: RecordLayout | undefined;
  return {
    put: (value, out, indent) => putColumns(value, { fields, names, out, indent }),
    portable(value) {
      const { length } = value;
      if (length === 0) return undefined;
      const columnOf = value.columns as ColumnsByName;
      const widths = names.map((name) => widthOf(columnOf[name], length));
      if (layout === undefined || layout.widths.some((width, i) => width !== widths[i]))
        layout = layOut(names, fields, widths);
      return encodedRecords(layout, columnOf, length);
    },
  };
}

interface ColumnsTarget {
  readonly fields: Fields;
  readonly names: readonly string[];
  readonly out: TextBytes;
  readonly indent: string;
}

function putColumns({ length, columns }: Columns<unknown>, { fields, names, out, indent }: ColumnsTarget) {
  if (length === 0) return void out.text("[]");
  const members = names.map((name, i) => {
    const schema = fields[name]!;
    const column = (columns as ColumnsByName)[name];
    const empty = column === undefined ? schema.write(schema.absent(), out.dialect, indent) : "";
    const label = textWords(`${i === 0 ? "{" : ","}\r\n${indent}  "${name}": ${empty}`);
    return column === undefined ? { label } : { label, column, put: partOf(schema, "put") };
  });
  const [begin, between, end] = [textWords("["), textWords(`\r\n${indent}},`), textWords(`\r\n${indent}}]`)];
  out.words(begin);
  for (let at = 0; at < length; at++) {
    for (const { label, column, put } of members) {
      out.words(label);
      if (column !== undefined) put(column, at, out);
    }
    out.words(at === length - 1 ? end : between);
  }
}

/** Bytes per value of a column; 0 if there is no column. */
function widthOf(column: Column | undefined, length: number): number {
  if (column === undefined) return 0;
  return column instanceof Float64Array ? 8 : column.length / length;
}

/** A record of a list in portable storage, and the positions of its columns' values. */
interface RecordLayout {
  readonly widths: readonly number[];
  readonly record: Uint8Array;
  readonly places: readonly {
    readonly name: string;
    readonly offset: number;
    readonly valueBytes: number;
    readonly fill: NonNullable<ColumnKind["fill"]>;
  }[];
}

const HEADER_BYTES = writePortable(new Map()).length - 1;

/** Size in bytes of a record with these entries, without the header of the storage. */
function recordBytesOf(entries: readonly (readonly [string, PortableEntry])[]): Uint8Array {
  return writePortable(new Map(entries)).subarray(HEADER_BYTES);
}

function layOut(names: readonly string[], fields: Fields, widths: readonly number[]): RecordLayout {
  const entries = names.map((name, i) => {
    const schema = fields[name]!;
    const width = widths[i]!;
    const entry = width === 0 ? schema.writePortable(schema.absent())! : partOf(schema, "room")(width);
    return [name, entry] as const;
  });
  const places = names.flatMap((name, i) => {
    if (widths[i] === 0) return [];
    // A record with the entries up to a field ends with that field's value: the count takes one byte, whatever the
    // number.
    const offset = recordBytesOf(entries.slice(0, i + 1)).length - widths[i]!;
    return [{ name, offset, valueBytes: widths[i]!, fill: partOf(fields[name]!, "fill") }];
  });
  return { widths, record: recordBytesOf(entries), places };
}

/** One record, repeated, into which the values are copied: where they are sent from, without a copy before. */
function encodedRecords(
  { record, places }: RecordLayout,
  columnOf: ColumnsByName,
  count: number,
): PortableArray {
  const recordBytes = record.length;
  const length = count * recordBytes;
  const fillAll = (bytes: Uint8Array, at: number): void => {
    const end = at + length;
    bytes.set(record, at);
    for (let done = recordBytes; done < length; done *= 2)
      bytes.copyWithin(at + done, at, Math.min(at + done, end - done));
    const target = viewOf(bytes);
    for (const { name, offset, valueBytes, fill } of places)
      fill(columnOf[name]!, { target, offset: at + offset, recordBytes, valueBytes });
  };
  return encodedObjects(count, { length, fill: fillAll });
}
