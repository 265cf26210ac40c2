import { fromHex, toHex } from "../bytes.ts";
import { BadBytes } from "./bytes-io.ts";
import type { IntegerType, PortableArray, PortableEntry, PortableObject, PortableScalar } from "./epee.ts";
import { writePortable } from "./epee.ts";
import type { PortableLimits } from "./epee-scan.ts";
import { openPortable, PortableNames, type PortableValue } from "./epee-value.ts";

/** Values of JSON text; 64-bit numbers are bigint. */
export type JsonValue =
  | null
  | boolean
  | number
  | bigint
  | string
  | JsonValue[]
  | { [name: string]: JsonValue };

/**
 * A field declared once for portable storage and JSON. Readers throw `BadBytes`, and build the declared value directly
 * from the bytes. An entry or JSON value of `undefined` means that the field is missing.
 */
export interface Field<T> {
  toPortable(value: T): PortableEntry | undefined;
  fromPortable(value: PortableValue | undefined): T;
  toJson(value: T): JsonValue | undefined;
  fromJson(json: JsonValue | undefined): T;
}

function wrongType(): BadBytes {
  return new BadBytes("a field of another type");
}

/** Whole number of an entry: every integer type that holds the value is accepted, and booleans, as in the original. */
function integerOf({ integer, boolean }: PortableValue): bigint {
  if (integer !== undefined) return integer;
  if (boolean === undefined) throw wrongType();
  return boolean ? 1n : 0n;
}

function inRange(type: IntegerType, value: bigint): bigint {
  const bits = Number(type.replace(/\D+/, ""));
  const wrapped = type.startsWith("u") ? BigInt.asUintN(bits, value) : BigInt.asIntN(bits, value);
  if (wrapped !== value) throw new BadBytes(`number outside ${type}`);
  return value;
}

function integerOfJson(json: JsonValue): bigint {
  if (typeof json === "bigint") return json;
  if (typeof json === "number" && Number.isSafeInteger(json)) return BigInt(json);
  throw wrongType();
}

function integer<T>(
  type: IntegerType,
  shape: { of: (value: bigint) => T; to: (value: T) => bigint },
): Field<T> {
  const { of, to } = shape;
  return {
    toPortable: (value) => ({ type, value: to(value) }),
    fromPortable: (entry) => of(entry === undefined ? 0n : inRange(type, integerOf(entry))),
    toJson: (value) => to(value),
    fromJson: (json) => of(json === undefined ? 0n : inRange(type, integerOfJson(json))),
  };
}

function exactNumber(value: bigint): number {
  if (value > BigInt(Number.MAX_SAFE_INTEGER)) throw new BadBytes("number above 2^53");
  return Number(value);
}

const asNumber = { of: exactNumber, to: (value: number) => BigInt(value) };
const asBigint = { of: (value: bigint) => value, to: (value: bigint) => value };

/** Integer fields; those of 64 bits as bigint, the others as number. A missing one is 0. */
export const u64: Field<bigint> = integer("uint64", asBigint);
export const i64: Field<bigint> = integer("int64", asBigint);
export const u32: Field<number> = integer("uint32", asNumber);
export const u16: Field<number> = integer("uint16", asNumber);
export const u8: Field<number> = integer("uint8", asNumber);
/** 64 bits on the wire, a number here (below 2^53): heights, counts, times. */
export const count64: Field<number> = integer("uint64", asNumber);

/** True or false; if missing, false. */
export const bool: Field<boolean> = {
  toPortable: (value) => ({ type: "bool", value }),
  fromPortable: (entry) => {
    const value = entry === undefined ? 0n : integerOf(entry);
    if (value > 1n || value < 0n) throw wrongType();
    return value === 1n;
  },
  toJson: (value) => value,
  fromJson: (json) => {
    if (json !== undefined && typeof json !== "boolean") throw wrongType();
    return json ?? false;
  },
};

function stringOf({ bytes }: PortableValue): Uint8Array {
  if (bytes === undefined) throw wrongType();
  return bytes;
}

/** Bytes of any length, a view of the bytes read; hexadecimal in JSON. If missing, empty. */
export const blob: Field<Uint8Array> = {
  toPortable: (value) => ({ type: "string", value }),
  fromPortable: (entry) => (entry === undefined ? new Uint8Array() : stringOf(entry)),
  toJson: toHex,
  fromJson: (json) => {
    if (json === undefined) return new Uint8Array();
    if (typeof json !== "string") throw wrongType();
    return fromHex(json);
  },
};

/** The bytes of a string that will be copied or decoded; their memory is charged. */
function charged(value: PortableValue): Uint8Array {
  const bytes = stringOf(value);
  value.charge(2 * bytes.length);
  return bytes;
}

/** Text; UTF-8 on the wire. If missing, empty. */
export const text: Field<string> = {
  toPortable: (value) => ({ type: "string", value: new TextEncoder().encode(value) }),
  fromPortable: (entry) => (entry === undefined ? "" : new TextDecoder().decode(charged(entry))),
  toJson: (value) => value,
  fromJson: (json) => {
    if (json !== undefined && typeof json !== "string") throw wrongType();
    return json ?? "";
  },
};

function ofLength(value: Uint8Array, length: number): Uint8Array {
  if (value.length !== length) throw new BadBytes(`expected ${length} bytes, have ${value.length}`);
  return value;
}

/** Exactly `length` bytes, copied: a hash, a key. If missing, all zero. */
export function fixedBytes(length: number): Field<Uint8Array> {
  return {
    toPortable: (value) => ({ type: "string", value: ofLength(value, length) }),
    fromPortable: (entry) =>
      entry === undefined ? new Uint8Array(length) : ofLength(charged(entry), length).slice(),
    toJson: (value) => toHex(ofLength(value, length)),
    fromJson: (json) => (json === undefined ? new Uint8Array(length) : ofLength(blob.fromJson(json), length)),
  };
}

/** Estimated memory of a byte array in a list, besides the bytes. */
const ELEMENT_BYTES = 128;

/** Elements of `length` bytes joined in one string; a list of hexadecimal texts in JSON. An empty list is left out. */
export function packedBytes(length: number): Field<Uint8Array[]> {
  return {
    toPortable: (values) => {
      if (values.length === 0) return undefined;
      const joined = new Uint8Array(values.length * length);
      for (const [i, value] of values.entries()) joined.set(ofLength(value, length), i * length);
      return { type: "string", value: joined };
    },
    fromPortable: (entry) => {
      if (entry === undefined) return [];
      const joined = stringOf(entry);
      if (joined.length % length !== 0) throw new BadBytes(`not a multiple of ${length} bytes`);
      entry.charge((joined.length / length) * (ELEMENT_BYTES + length));
      // All share one copy: a buffer for each value would take many times their bytes.
      const copy = joined.slice();
      return Array.from({ length: copy.length / length }, (_, i) =>
        copy.subarray(i * length, (i + 1) * length),
      );
    },
    toJson: (values) => values.map((value) => toHex(ofLength(value, length))),
    fromJson: (json) => listOfJson(json).map((item) => ofLength(blob.fromJson(item), length)),
  };
}

function listOfJson(json: JsonValue | undefined): JsonValue[] {
  if (json === undefined) return [];
  if (!Array.isArray(json)) throw wrongType();
  return json;
}

/** Values of one kind; an empty list is left out, a missing one is empty. At most `max` elements are read. */
export function list<T>(item: Field<T>, max: number = Number.MAX_SAFE_INTEGER): Field<T[]> {
  const check = (count: number): void => {
    if (count > max) throw new BadBytes(`more than ${max} elements`);
  };
  return {
    toPortable: (values) => {
      if (values.length === 0) return undefined;
      const entries = values.map((value) => item.toPortable(value) as PortableScalar);
      return {
        type: entries[0]!.type,
        values: entries.map(({ value }) => value),
      } as unknown as PortableArray;
    },
    fromPortable: (array) => {
      if (array === undefined) return [];
      if (array.count === undefined) throw wrongType();
      check(array.count);
      return array.map((value) => item.fromPortable(value));
    },
    toJson: (values) => values.map((value) => item.toJson(value) ?? null),
    fromJson: (json) => {
      const array = listOfJson(json);
      check(array.length);
      return array.map((value) => item.fromJson(value));
    },
  };
}

/** A field that may be missing: then it is undefined. */
export function optionalField<T>(field: Field<T>): Field<T | undefined> {
  return {
    toPortable: (value) => (value === undefined ? undefined : field.toPortable(value)),
    fromPortable: (entry) => (entry === undefined ? undefined : field.fromPortable(entry)),
    toJson: (value) => (value === undefined ? undefined : field.toJson(value)),
    fromJson: (json) => (json === undefined ? undefined : field.fromJson(json)),
  };
}

/** A field that is left out if it has this value, and has it if missing. */
export function defaultsTo<T extends boolean | number | bigint | string>(
  field: Field<T>,
  value: T,
): Field<T> {
  return {
    toPortable: (input) => (input === value ? undefined : field.toPortable(input)),
    fromPortable: (entry) => (entry === undefined ? value : field.fromPortable(entry)),
    toJson: (input) => (input === value ? undefined : field.toJson(input)),
    fromJson: (json) => (json === undefined ? value : field.fromJson(json)),
  };
}

/** The type of the values of a field or record. */
export type FieldValue<F> = F extends Field<infer T> ? T : never;

/** Named fields; also a field itself, of type object. */
export interface RecordField<T> extends Field<T> {
  toObject(value: T): PortableObject;
}

// A field is both a reader and a writer of its type, so only `Field<never>` fits all fields.
type FieldsOfAnyType = { readonly [name: string]: Field<never> | Field<unknown> };
type ValuesOf<F> = { [K in keyof F]: FieldValue<F[K]> };

/** Declares named fields, by their names on the wire. */
export function record<F extends FieldsOfAnyType>(fields: F): RecordField<ValuesOf<F>> {
  type Value = ValuesOf<F>;
  const named = Object.entries(fields) as unknown as [keyof F & string, Field<unknown>][];
  const declared = new PortableNames(named.map(([name]) => name));
  const positions = new Map(declared.names.map((name, position) => [name, position]));
  const toObject = (value: Value): PortableObject =>
    new Map(
      named.flatMap(([name, field]) => {
        const entry = field.toPortable(value[name]);
        return entry === undefined ? [] : [[name, entry] as const];
      }),
    );
  const gather = (read: (name: string, field: Field<unknown>) => unknown): Value =>
    Object.fromEntries(named.map(([name, field]) => [name, read(name, field)])) as Value;
  return {
    toObject,
    toPortable: (value) => ({ type: "object", value: toObject(value) }),
    fromPortable: (object) => {
      const values = object === undefined ? [] : object.fields(declared);
      if (values === undefined) throw wrongType();
      return gather((name, field) => field.fromPortable(values[positions.get(name)!]));
    },
    toJson: (value) => {
      const members = named.flatMap(([name, field]) => {
        const json = field.toJson(value[name]);
        return json === undefined ? [] : [[name, json] as const];
      });
      return Object.fromEntries(members);
    },
    fromJson: (json) => {
      if (json === undefined || json === null || typeof json !== "object" || Array.isArray(json))
        throw wrongType();
      return gather((name, field) => field.fromJson(Object.hasOwn(json, name) ? json[name] : undefined));
    },
  };
}

/** Serializes a record as portable storage. */
export function writeRecord<T>(declared: RecordField<T>, value: T): Uint8Array {
  return writePortable(declared.toObject(value));
}

/**
 * Parses a record from portable storage; fields that it does not declare are checked and skipped. Blobs are views of
 * `bytes`, which must not change. Throws `BadBytes`.
 */
export function readRecord<T>(declared: RecordField<T>, bytes: Uint8Array, limits?: PortableLimits): T {
  return declared.fromPortable(openPortable(bytes, limits));
}
