/** Byte layouts of stored records: each is declared once as a value; type, writer and reader follow from it. */

/** Where a reader stands in a record. */
export interface Cursor {
  readonly bytes: Uint8Array;
  readonly view: DataView;
  at: number;
}

/** One field's byte form. Numbers are big-endian, so that a key made of fields sorts by value. */
export interface Field<T> {
  size(value: T): number;
  write(cursor: Cursor, value: T): void;
  read(cursor: Cursor): T;
}

/** The value type a field or layout stands for. */
export type ValueOf<F> = F extends Field<infer T> ? T : never;

/** Thrown when stored bytes do not have the declared layout: the database is damaged. */
export class CorruptRecord extends Error {
  constructor(detail: string) {
    super(`stored record is damaged: ${detail}`);
    this.name = "CorruptRecord";
  }
}

function cursorOver(bytes: Uint8Array): Cursor {
  return { bytes, view: new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength), at: 0 };
}

function advance(cursor: Cursor, size: number): number {
  const start = cursor.at;
  if (start + size > cursor.bytes.length) throw new CorruptRecord(`${size} bytes wanted at ${start}`);
  cursor.at += size;
  return start;
}

/** 1 byte, 0 to 255. */
export const u8: Field<number> = {
  size: () => 1,
  write: (c, value) => c.view.setUint8(advance(c, 1), value),
  read: (c) => c.view.getUint8(advance(c, 1)),
};

/** 4 bytes, 0 to 2^32 - 1. */
export const u32: Field<number> = {
  size: () => 4,
  write: (c, value) => c.view.setUint32(advance(c, 4), value),
  read: (c) => c.view.getUint32(advance(c, 4)),
};

/** 8 bytes, for counters and heights that stay below 2^53. */
export const uint: Field<number> = {
  size: () => 8,
  write(c, value) {
    if (!Number.isSafeInteger(value) || value < 0)
      throw new RangeError(`${value} is no stored unsigned number`);
    const at = advance(c, 8);
    c.view.setUint32(at, Math.floor(value / 2 ** 32));
    c.view.setUint32(at + 4, value >>> 0);
  },
  read(c) {
    const at = advance(c, 8);
    return c.view.getUint32(at) * 2 ** 32 + c.view.getUint32(at + 4);
  },
};

/** 8 bytes, any 64-bit unsigned integer. */
export const u64: Field<bigint> = {
  size: () => 8,
  write: (c, value) => c.view.setBigUint64(advance(c, 8), value),
  read: (c) => c.view.getBigUint64(advance(c, 8)),
};

/** 16 bytes, any 128-bit unsigned integer. */
export const u128: Field<bigint> = {
  size: () => 16,
  write(c, value) {
    const at = advance(c, 16);
    c.view.setBigUint64(at, value >> 64n);
    c.view.setBigUint64(at + 8, BigInt.asUintN(64, value));
  },
  read(c) {
    const at = advance(c, 16);
    return (c.view.getBigUint64(at) << 64n) | c.view.getBigUint64(at + 8);
  },
};

/** 1 byte, 0 or 1. */
export const flag: Field<boolean> = {
  size: () => 1,
  write: (c, value) => u8.write(c, value ? 1 : 0),
  read: (c) => u8.read(c) === 1,
};

/** 32 bytes: a hash, key, key image or commitment. */
export const bytes32: Field<Uint8Array> = {
  size: () => 32,
  write(c, value) {
    if (value.length !== 32) throw new RangeError(`32 bytes wanted, got ${value.length}`);
    c.bytes.set(value, advance(c, 32));
  },
  read(c) {
    const at = advance(c, 32);
    return c.bytes.subarray(at, at + 32);
  },
};

/** Everything up to the end of the record; only as its last field. */
export const rest: Field<Uint8Array> = {
  size: (value) => value.length,
  write: (c, value) => c.bytes.set(value, advance(c, value.length)),
  read(c) {
    const at = advance(c, c.bytes.length - c.at);
    return c.bytes.subarray(at);
  },
};

/** UTF-8 text up to the end of the record. */
export const text: Field<string> = {
  size: (value) => Buffer.byteLength(value),
  write: (c, value) => rest.write(c, Buffer.from(value)),
  read: (c) => Buffer.from(rest.read(c)).toString(),
};

/** No bytes at all: the value of a set's member. */
export const nothing: Field<true> = { size: () => 0, write: () => {}, read: () => true };

/** Repeats a field up to the end of the record. */
export function many<T>(field: Field<T>): Field<readonly T[]> {
  return {
    size: (values) => values.reduce((sum, value) => sum + field.size(value), 0),
    write(c, values) {
      for (const value of values) field.write(c, value);
    },
    read(c) {
      const values: T[] = [];
      while (c.at < c.bytes.length) values.push(field.read(c));
      return values;
    },
  };
}

/** Named fields, one after another. */
export function record<T extends Record<string, unknown>>(
  shape: { readonly [K in keyof T]: Field<T[K]> },
): Field<Readonly<T>> {
  const fields = Object.entries(shape) as [keyof T, Field<T[keyof T]>][];
  return {
    size: (value) => fields.reduce((sum, [name, field]) => sum + field.size(value[name]), 0),
    write(c, value) {
      for (const [name, field] of fields) field.write(c, value[name]);
    },
    read(c) {
      const value: Partial<T> = {};
      for (const [name, field] of fields) value[name] = field.read(c);
      return value as T;
    },
  };
}

/** The bytes of a value. */
export function writeRecord<T>(field: Field<T>, value: T): Uint8Array {
  const cursor = cursorOver(new Uint8Array(field.size(value)));
  field.write(cursor, value);
  return cursor.bytes;
}

/** The value of bytes; throws CorruptRecord when they are too short or too long. */
export function readRecord<T>(field: Field<T>, bytes: Uint8Array): T {
  const cursor = cursorOver(bytes);
  const value = field.read(cursor);
  if (cursor.at !== bytes.length) throw new CorruptRecord(`${bytes.length - cursor.at} bytes too many`);
  return value;
}
