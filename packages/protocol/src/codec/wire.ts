import { Reader, Writer } from "./bytes-io.ts";

/**
 * Consensus encodings, declared once: a codec value provides the type (`TypeOf`), the reader and the writer. Readers
 * throw `BadBytes`; writers throw `RangeError` for values without an encoding. Source of the format:
 * serialization/binary_archive.h, serialization/container.h.
 */
export interface Codec<T> {
  read(reader: Reader): T;
  write(writer: Writer, value: T): void;
}

/** The type of the values of a codec. */
export type TypeOf<C> = C extends Codec<infer T> ? T : never;

/** Decodes a value from exactly these bytes; keeps its own copy. Throws `BadBytes`, also when bytes are left over. */
export function decode<T>(codec: Codec<T>, bytes: Uint8Array): T {
  const reader = new Reader(new Uint8Array(bytes));
  const value = codec.read(reader);
  checkEnd(reader);
  return value;
}

/** Decodes a value that is read in steps, with the pauses of these. Throws `BadBytes`, also if bytes are left over. */
export function* decodeInSteps<T>(
  read: (reader: Reader) => Generator<void, T>,
  bytes: Uint8Array,
): Generator<void, T> {
  const reader = new Reader(new Uint8Array(bytes));
  const value = yield* read(reader);
  checkEnd(reader);
  return value;
}

function checkEnd(reader: Reader): void {
  if (reader.remaining !== 0) throw reader.bad(`${reader.remaining} bytes left over`);
}

/** Memory to which values are written before their bytes are copied: some are written only to be hashed. */
const scratch = new Uint8Array(16 * 1024);

/** Encodes a value; a codec must not call this while it writes. */
export function encode<T>(codec: Codec<T>, value: T): Uint8Array {
  const writer = new Writer(scratch);
  codec.write(writer, value);
  return writer.finish();
}

/** One byte. */
export const u8: Codec<number> = {
  read: (reader) => reader.readByte(),
  write: (writer, value) => {
    if (!(Number.isInteger(value) && value >= 0 && value < 256)) throw new RangeError("not a byte");
    writer.writeByte(value);
  },
};

/** Four bytes, little-endian. */
export const u32: Codec<number> = {
  read: (reader) => {
    const b = reader.readBytes(4);
    return (b[0]! | (b[1]! << 8) | (b[2]! << 16) | (b[3]! << 24)) >>> 0;
  },
  write: (writer, value) => {
    if (!(Number.isInteger(value) && value >= 0 && value < 2 ** 32)) throw new RangeError("not a uint32");
    for (let shift = 0; shift < 32; shift += 8) writer.writeByte((value >>> shift) & 0xff);
  },
};

/** Unsigned varint that a number holds exactly (below 2^53). */
export const varint: Codec<number> = {
  read: (reader) => reader.readVarint(),
  write: (writer, value) => writer.writeVarint(value),
};

/** Unsigned varint of 64 bits. */
export const varint64: Codec<bigint> = {
  read: (reader) => reader.readVarint64(),
  write: (writer, value) => writer.writeVarint(value),
};

/**
 * A size whose varint may be cut off: if the bytes end inside it, the bytes that are there are used, and none means 0.
 * The original reads every varint in this way (common/varint.h `read_varint`); it matters where a size can be the last
 * field.
 */
export const lenientSize: Codec<number> = {
  read: (reader) => {
    let value = 0;
    for (let scale = 1; reader.remaining > 0; scale *= 128) {
      const byte = reader.readByte();
      if (byte === 0 && scale > 1) throw reader.bad("number not written in its shortest form");
      value += (byte & 0x7f) * scale;
      if (byte < 0x80) return value;
      if (scale > 2 ** 42) throw reader.bad("size too large");
    }
    return value;
  },
  write: (writer, value) => writer.writeVarint(value),
};

/** Unsigned varint below `limit`. */
export function varintBelow(limit: number): Codec<number> {
  return refine(varint, (value) => value < limit, `number not below ${limit}`);
}

/** Exactly `length` bytes. */
export function bytes(length: number): Codec<Uint8Array> {
  return {
    read: (reader) => reader.readBytes(length),
    write: (writer, value) => {
      if (value.length !== length) throw new RangeError(`expected ${length} bytes, have ${value.length}`);
      writer.writeBytes(value);
    },
  };
}

/** A hash, key, point or scalar. */
export const bytes32: Codec<Uint8Array> = bytes(32);

/** Bytes preceded by their number. */
export const byteString: Codec<Uint8Array> = {
  read: (reader) => reader.readBytes(reader.readVarint()),
  write: (writer, value) => {
    writer.writeVarint(value.length);
    writer.writeBytes(value);
  },
};

/** Elements preceded by their number; a number above the bytes left is refused before anything is read. */
export function list<T>(element: Codec<T>, size: Codec<number> = varint): Codec<T[]> {
  return {
    read: (reader) => readTimes(reader, element, readCount(reader, size)),
    write: (writer, values) => {
      writer.writeVarint(values.length);
      for (const value of values) element.write(writer, value);
    },
  };
}

/** Reads what `list` reads, and pauses after each element. Throws `BadBytes`. */
export function* readList<T>(reader: Reader, element: Codec<T>): Generator<void, T[]> {
  const count = readCount(reader, varint);
  const values: T[] = [];
  while (values.length < count) {
    values.push(element.read(reader));
    yield;
  }
  return values;
}

/** No element is shorter than a byte. */
function readCount(reader: Reader, size: Codec<number>): number {
  const count = size.read(reader);
  if (count > reader.remaining) throw reader.bad(`count ${count} above the bytes left`);
  return count;
}

/** A number of elements that is known beforehand. */
export function times<T>(count: number, element: Codec<T>): Codec<T[]> {
  return {
    read: (reader) => readTimes(reader, element, count),
    write: (writer, values) => {
      if (values.length !== count) throw new RangeError(`expected ${count} elements, have ${values.length}`);
      for (const value of values) element.write(writer, value);
    },
  };
}

function readTimes<T>(reader: Reader, element: Codec<T>, count: number): T[] {
  const values: T[] = [];
  for (let i = 0; i < count; i++) values.push(element.read(reader));
  return values;
}

/** No elements and no bytes: a field that only other versions have. */
export function absent<T>(): Codec<T[]> {
  return { read: () => [], write: () => {} };
}

/** No bytes: always reads as this value. */
export function constant<const T>(value: T): Codec<T> {
  return { read: () => value, write: () => {} };
}

/** Values of `codec` that pass a test; others are refused with `reason`. */
export function refine<T>(codec: Codec<T>, isGood: (value: T) => boolean, reason: string): Codec<T> {
  return {
    read: (reader) => {
      const value = codec.read(reader);
      if (!isGood(value)) throw reader.bad(reason);
      return value;
    },
    write: (writer, value) => {
      if (!isGood(value)) throw new RangeError(reason);
      codec.write(writer, value);
    },
  };
}

type Fields = Record<string, unknown>;
type With<S, K extends string, T> = { [P in keyof S | K]: P extends keyof S ? S[P] : T };
type FieldCodec<S, T> = Codec<T> | ((before: S) => Codec<T>);

/** Consecutive fields; the codec of a field may depend on the fields before it. */
export interface Struct<S> extends Codec<S> {
  field<K extends string, T>(name: K, codec: FieldCodec<S, T>): Struct<With<S, K, T>>;
}

type AnyField = {
  name: string;
  codec: Codec<unknown> | undefined;
  choose: (before: Fields) => Codec<unknown>;
};

function structOf<S>(fields: readonly AnyField[]): Struct<S> {
  return {
    read: (reader) => {
      const value: Fields = {};
      for (const { name, codec, choose } of fields) value[name] = (codec ?? choose(value)).read(reader);
      return value as S;
    },
    write: (writer, value) => {
      const source = value as Fields;
      for (const { name, codec, choose } of fields) (codec ?? choose(source)).write(writer, source[name]);
    },
    field: (name, codec) => {
      const isChosen = typeof codec === "function";
      const next: AnyField = {
        name,
        codec: isChosen ? undefined : (codec as Codec<unknown>),
        choose: (isChosen ? codec : () => codec) as AnyField["choose"],
      };
      return structOf([...fields, next]);
    },
  };
}

/** A struct without fields yet. */
export function struct(): Struct<object> {
  return structOf<object>([]);
}

type Cases = Readonly<Record<string, readonly [tag: number, codec: Codec<object>]>>;
type UnionOf<C extends Cases> = {
  [K in keyof C & string]: { type: K } & (C[K] extends readonly [number, Codec<infer T>] ? T : never);
}[keyof C & string];
type Simplify<T> = T extends unknown ? { [K in keyof T]: T[K] } : never;

/** A tag byte, then the fields of the case with this tag; the case's name becomes the field `type`. */
export function union<const C extends Cases>(cases: C): Codec<Simplify<UnionOf<C>>> {
  const byTag = new Map(Object.entries(cases).map(([type, [tag, codec]]) => [tag, { type, codec }] as const));
  return {
    read: (reader) => {
      const tag = reader.readByte();
      const variant = byTag.get(tag);
      if (variant === undefined) throw reader.bad(`unknown tag ${tag}`);
      return { type: variant.type, ...variant.codec.read(reader) } as Simplify<UnionOf<C>>;
    },
    write: (writer, value) => {
      const [tag, codec] = cases[value.type as string]!;
      writer.writeByte(tag);
      codec.write(writer, value as object);
    },
  };
}
