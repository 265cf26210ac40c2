import { DamagedDatabase } from "./damage.ts";

/** Byte layouts of stored records: each is declared once as a value, from which type, writer and reader are derived. */

/** The position of a reader in a record. A Buffer reads numbers without a view object for each record. */
interface Cursor {
  readonly bytes: Buffer;
  at: number;
  /** Where the record ends; by default at the end of the bytes. */
  readonly end?: number;
}

function endOf({ bytes, end }: Cursor): number {
  return end ?? bytes.length;
}

/** The byte form of one field. Numbers are big-endian, so that a key made of fields sorts by value. */
export interface Field<T> {
  /** Number of bytes of every value; undefined if it depends on the value. */
  readonly fixedSize?: number;
  size(value: T): number;
  write(cursor: Cursor, value: T): void;
  read(cursor: Cursor): T;
}

/** The value type a field or layout stands for. */
export type ValueOf<F> = F extends Field<infer T> ? T : never;

function advance(cursor: Cursor, size: number): number {
  const start = cursor.at;
  if (start + size > endOf(cursor)) throw new DamagedDatabase(`${size} bytes of a record wanted at ${start}`);
  cursor.at += size;
  return start;
}

/** The next bytes as a view of the record's own memory. */
function part(cursor: Cursor, size: number): Uint8Array {
  const at = advance(cursor, size);
  return new Uint8Array(cursor.bytes.buffer, cursor.bytes.byteOffset + at, size);
}

/** 1 byte, 0 to 255. */
export const u8: Field<number> = {
  fixedSize: 1,
  size: () => 1,
  write: (c, value) => void c.bytes.writeUInt8(value, advance(c, 1)),
  read: (c) => c.bytes.readUInt8(advance(c, 1)),
};

/** 4 bytes, 0 to 2^32 - 1. */
export const u32: Field<number> = {
  fixedSize: 4,
  size: () => 4,
  write: (c, value) => void c.bytes.writeUInt32BE(value, advance(c, 4)),
  read: (c) => c.bytes.readUInt32BE(advance(c, 4)),
};

const COUNT_BYTES = 8;

/** 8 bytes, for counters and heights that stay below 2^53. */
export const count64: Field<number> = {
  fixedSize: COUNT_BYTES,
  size: () => COUNT_BYTES,
  write(c, value) {
    if (!Number.isSafeInteger(value) || value < 0)
      throw new RangeError(`${value} is no stored unsigned number`);
    const at = advance(c, COUNT_BYTES);
    c.bytes.writeUInt32BE(Math.floor(value / 2 ** 32), at);
    c.bytes.writeUInt32BE(value >>> 0, at + 4);
  },
  read(c) {
    const at = advance(c, COUNT_BYTES);
    return c.bytes.readUInt32BE(at) * 2 ** 32 + c.bytes.readUInt32BE(at + 4);
  },
};

/** Reads eight bytes; a number that is exact as a double becomes a bigint in one step. */
function bigintAt(bytes: Buffer, at: number): bigint {
  const [high, low] = [bytes.readUInt32BE(at), bytes.readUInt32BE(at + 4)];
  return high < 2 ** 21 ? BigInt(high * 2 ** 32 + low) : (BigInt(high) << 32n) | BigInt(low);
}

/** 8 bytes, any 64-bit unsigned integer. */
export const u64: Field<bigint> = {
  fixedSize: 8,
  size: () => 8,
  write: (c, value) => void c.bytes.writeBigUInt64BE(value, advance(c, 8)),
  read: (c) => bigintAt(c.bytes, advance(c, 8)),
};

/** 16 bytes, any 128-bit unsigned integer. */
export const u128: Field<bigint> = {
  fixedSize: 16,
  size: () => 16,
  write(c, value) {
    const at = advance(c, 16);
    c.bytes.writeBigUInt64BE(value >> 64n, at);
    c.bytes.writeBigUInt64BE(BigInt.asUintN(64, value), at + 8);
  },
  read(c) {
    const at = advance(c, 16);
    const [high, low] = [bigintAt(c.bytes, at), bigintAt(c.bytes, at + 8)];
    return high === 0n ? low : (high << 64n) | low;
  },
};

/** 1 byte, 0 or 1. */
export const bool: Field<boolean> = {
  fixedSize: 1,
  size: () => 1,
  write: (c, value) => u8.write(c, value ? 1 : 0),
  read: (c) => u8.read(c) === 1,
};

/** 1 byte: the index of a value in a list. */
export function oneOf<const T extends readonly string[]>(...values: T): Field<T[number]> {
  return {
    fixedSize: 1,
    size: () => 1,
    write: (c, value) => u8.write(c, values.indexOf(value)),
    read(c) {
      const value = values[u8.read(c)];
      if (value === undefined) throw new DamagedDatabase("a record with a choice that is none");
      return value;
    },
  };
}

/** 32 bytes: a hash, key, key image or commitment. */
export const bytes32: Field<Uint8Array> = {
  fixedSize: 32,
  size: () => 32,
  write(c, value) {
    if (value.length !== 32) throw new RangeError(`32 bytes wanted, got ${value.length}`);
    c.bytes.set(value, advance(c, 32));
  },
  read(c) {
    return part(c, 32);
  },
};

/** Everything up to the end of the record; only as its last field. */
export const rest: Field<Uint8Array> = {
  size: (value) => value.length,
  write: (c, value) => c.bytes.set(value, advance(c, value.length)),
  read(c) {
    return part(c, endOf(c) - c.at);
  },
};

/** UTF-8 text up to the end of the record. */
export const text: Field<string> = {
  size: (value) => Buffer.byteLength(value),
  write: (c, value) => rest.write(c, Buffer.from(value)),
  read: (c) => Buffer.from(rest.read(c)).toString(),
};

/** No bytes: the value in a table that is a set. */
export const empty: Field<true> = { size: () => 0, write: () => {}, read: () => true };

/** Repeats a field up to the end of the record. */
export function list<T>(field: Field<T>): Field<readonly T[]> {
  return {
    size: (values) => values.reduce((sum, value) => sum + field.size(value), 0),
    write(c, values) {
      for (const value of values) field.write(c, value);
    },
    read(c) {
      const values: T[] = [];
      while (c.at < endOf(c)) values.push(field.read(c));
      return values;
    },
  };
}

/** Reads a `count64` without a cursor. */
export function readCount(row: Uint8Array, at: number): number {
  const high = ((row[at]! << 24) | (row[at + 1]! << 16) | (row[at + 2]! << 8) | row[at + 3]!) >>> 0;
  const low = ((row[at + 4]! << 24) | (row[at + 5]! << 16) | (row[at + 6]! << 8) | row[at + 7]!) >>> 0;
  return high * 2 ** 32 + low;
}

/**
 * Reads numbers of a `list(count64)` that has the first `length` bytes of a row, from place `from` on, to the end of
 * `target` at most; returns how many. Without an object for each: they are read by the hundred thousand.
 */
export function readCounts(
  row: Uint8Array,
  { length, from }: { readonly length: number; readonly from: number },
  target: Float64Array,
): number {
  const count = Math.max(0, Math.min(target.length, length / COUNT_BYTES - from));
  const start = COUNT_BYTES * from;
  for (let i = 0, at = start; i < count; i++, at += COUNT_BYTES) {
    target[i] = readCount(row, at);
  }
  return count;
}

/** A record whose fields can also be read one at a time. */
export interface RecordField<T> extends Field<Readonly<T>> {
  /** Readers of one field each, of those before which all have a fixed size. */
  readonly columns: { readonly [K in keyof T]: (bytes: Buffer) => T[K] };
  /** Offset of that field in bytes. */
  offsetOf(name: keyof T): number;
}

/** A record of named fields, one after another. */
export function record<T extends Record<string, unknown>>(
  shape: { readonly [K in keyof T]: Field<T[K]> },
): RecordField<T> {
  const fields = Object.entries(shape) as [keyof T, Field<T[keyof T]>][];
  const [names, codecs] = [fields.map(([name]) => name), fields.map(([, field]) => field)];
  const offsets = new Map<keyof T, number>();
  let next = 0;
  for (const [name, field] of fields) {
    offsets.set(name, next);
    next += field.fixedSize ?? Number.NaN;
  }
  const offsetOf = (name: keyof T): number => {
    const offset = offsets.get(name)!;
    if (Number.isNaN(offset)) throw new RangeError(`${String(name)} has no fixed place`);
    return offset;
  };
  const readers = fields.flatMap(([name, field]) => {
    const at = offsets.get(name)!;
    return Number.isNaN(at) ? [] : [[name, (bytes: Buffer) => field.read({ bytes, at })]];
  });
  return {
    ...(!Number.isNaN(next) && { fixedSize: next }),
    size: (value) => fields.reduce((sum, [name, field]) => sum + field.size(value[name]), 0),
    write(c, value) {
      for (const [name, field] of fields) field.write(c, value[name]);
    },
    read(c) {
      const value: Partial<T> = {};
      for (let i = 0; i < names.length; i++) value[names[i]!] = codecs[i]!.read(c);
      return value as T;
    },
    columns: Object.fromEntries(readers) as RecordField<T>["columns"],
    offsetOf,
  };
}

/** Serializes a value. */
export function writeRecord<T>(field: Field<T>, value: T): Buffer {
  const cursor: Cursor = { bytes: Buffer.allocUnsafe(field.fixedSize ?? field.size(value)), at: 0 };
  field.write(cursor, value);
  return cursor.bytes;
}

/** Writes a value at the start of `scratch`, or of new memory if that is too small, followed by `spare` bytes. */
export function writeInto<T>(field: Field<T>, value: T, { scratch, spare = 0 }: Scratch): Buffer {
  const size = field.fixedSize ?? field.size(value);
  const bytes = size + spare > scratch.length ? Buffer.allocUnsafe(size + spare) : scratch;
  field.write({ bytes, at: 0 }, value);
  return bytes.subarray(0, size + spare);
}

interface Scratch {
  readonly scratch: Buffer;
  readonly spare?: number;
}

/**
 * Parses a value, without `spare` bytes at the end; throws DamagedDatabase when there are too few or too many bytes.
 */
export function readRecord<T>(field: Field<T>, bytes: Buffer, spare = 0): T {
  const end = bytes.length - spare;
  const cursor: Cursor = { bytes, at: 0, end };
  const value = field.read(cursor);
  if (cursor.at !== end) throw new DamagedDatabase(`a record has ${end - cursor.at} bytes too many`);
  return value;
}
