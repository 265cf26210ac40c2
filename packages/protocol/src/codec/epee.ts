import { Writer } from "./bytes-io.ts";

/**
 * Portable storage: named, typed values in bytes, as peers and binary RPC paths exchange them. Source:
 * contrib/epee/include/storages/portable_storage_{base,from_bin,to_bin}.h.
 */
const integerTypes = {
  int64: { tag: 1, bytes: 8, signed: true },
  int32: { tag: 2, bytes: 4, signed: true },
  int16: { tag: 3, bytes: 2, signed: true },
  int8: { tag: 4, bytes: 1, signed: true },
  uint64: { tag: 5, bytes: 8, signed: false },
  uint32: { tag: 6, bytes: 4, signed: false },
  uint16: { tag: 7, bytes: 2, signed: false },
  uint8: { tag: 8, bytes: 1, signed: false },
} as const;
const otherTags = { double: 9, string: 10, bool: 11, object: 12 } as const;
export const ARRAY_TAG = 13;
export const ARRAY_FLAG = 0x80;

export type IntegerType = keyof typeof integerTypes;
/** Fields by name; a name is 1 to 254 characters of one byte each. */
export type PortableObject = ReadonlyMap<string, PortableEntry>;

type ValueOfType = { [T in IntegerType]: bigint } & {
  double: number;
  string: Uint8Array;
  bool: boolean;
  object: PortableObject;
};
export type PortableType = keyof ValueOfType;
export type PortableScalar = {
  [T in PortableType]: { readonly type: T; readonly value: ValueOfType[T] };
}[PortableType];
export type PortableArray = {
  [T in PortableType]: { readonly type: T; readonly values: readonly ValueOfType[T][] };
}[PortableType];
/** One value (`value`), or several of one type (`values`). */
export type PortableEntry = PortableScalar | PortableArray;

/** The bytes at the start of every storage: its signature and version. */
export const HEADER = new Uint8Array([0x01, 0x11, 0x01, 0x01, 0x01, 0x01, 0x02, 0x01, 0x01]);

/** Types by tag: a type is looked up for every field. */
const typeOfTag: PortableType[] = [];
for (const [type, { tag }] of Object.entries(integerTypes)) typeOfTag[tag] = type as IntegerType;
for (const [type, tag] of Object.entries(otherTags)) typeOfTag[tag] = type as keyof typeof otherTags;

/** The type with this tag; undefined for an unknown one. */
export function typeOfPortableTag(tag: number): PortableType | undefined {
  return typeOfTag[tag];
}

/** Number of bytes of an integer type, and whether it is signed; undefined for other types. */
export function integerShape(
  type: PortableType,
): { readonly bytes: number; readonly signed: boolean } | undefined {
  return (integerTypes as { readonly [T in PortableType]?: (typeof integerTypes)[IntegerType] })[type];
}

function isIntegerType(type: PortableType): type is IntegerType {
  return integerShape(type) !== undefined;
}

function writeSize(writer: Writer, size: number): void {
  if (size < 64) return void writer.writeByte(size * 4);
  const mark = size < 16_384 ? 1 : 2;
  if (size >= 2 ** 30) throw new RangeError("too much for portable storage");
  const marked = size * 4 + mark;
  for (let i = 0; i < 1 << mark; i++) writer.writeByte(Math.floor(marked / 256 ** i) & 0xff);
}

function writeInteger(writer: Writer, type: IntegerType, value: bigint): void {
  const { bytes, signed } = integerTypes[type];
  const bits = 8 * bytes;
  const wrapped = signed ? BigInt.asIntN(bits, value) : BigInt.asUintN(bits, value);
  if (wrapped !== value) throw new RangeError(`${value} is not of type ${type}`);
  if (bytes === 8) return void writer.writeInt64(value);
  const low = Number(BigInt.asUintN(32, value));
  for (let i = 0; i < bytes; i++) writer.writeByte((low >>> (8 * i)) & 0xff);
}

function writeValue(writer: Writer, { type, value }: PortableScalar): void {
  switch (type) {
    case "double": {
      const bytes = new Uint8Array(8);
      new DataView(bytes.buffer).setFloat64(0, value, true);
      writer.writeBytes(bytes);
      return;
    }
    case "string":
      writeSize(writer, value.length);
      writer.writeBytes(value);
      return;
    case "bool":
      writer.writeByte(value ? 1 : 0);
      return;
    case "object":
      writeObject(writer, value);
      return;
    default:
      writeInteger(writer, type, value);
  }
}

function tagOf(type: PortableType): number {
  return isIntegerType(type) ? integerTypes[type].tag : otherTags[type];
}

function writeEntry(writer: Writer, entry: PortableEntry): void {
  if ("value" in entry) {
    writer.writeByte(tagOf(entry.type));
    writeValue(writer, entry);
    return;
  }
  writer.writeByte(tagOf(entry.type) | ARRAY_FLAG);
  writeSize(writer, entry.values.length);
  const encoded = encodedValues.get(entry.values);
  if (encoded instanceof Uint8Array) return void writer.writeBytes(encoded);
  if (encoded !== undefined) return void writer.writeWith(encoded.length, encoded.fill);
  if (entry.type === "object") for (const value of entry.values) writeObject(writer, value);
  else for (const value of entry.values) writeValue(writer, { type: entry.type, value } as PortableScalar);
}

/** Serialized objects that are written repeatedly. */
const encodings = new WeakMap<PortableObject, Uint8Array>();

/** Memory at the start of every writing: only one writing runs at a time, and each ends with a copy. */
const scratch = new Uint8Array(16 * 1024);

/** Serializes an object once, for all the times it is written; it must not be changed afterwards. */
export function rememberPortable(object: PortableObject): PortableObject {
  const writer = new Writer(scratch);
  writeObject(writer, object);
  encodings.set(object, writer.finish());
  return object;
}

/** Joined bytes of objects: these, or as many as are written at an offset of memory each time they are wanted. */
export type EncodedObjects =
  | Uint8Array
  | { readonly length: number; readonly fill: (bytes: Uint8Array, at: number) => void };

/** Serialized arrays without objects, by the list that represents their values. */
const encodedValues = new WeakMap<readonly unknown[], EncodedObjects>();

/** An array of `count` objects that need not be made, because their joined bytes are known; it can only be written. */
export function encodedObjects(count: number, encoded: EncodedObjects): PortableArray {
  const values: PortableObject[] = [];
  values.length = count;
  encodedValues.set(values, encoded);
  return { type: "object", values };
}

/** An array of objects that are serialized one by one: only the bytes of each are kept. */
export class PortableObjects {
  readonly #writer = new Writer(scratch.length);
  #count = 0;

  add(object: PortableObject): void {
    writeObject(this.#writer, object);
    this.#count++;
  }

  /** The array of all objects; it can only be written. */
  finish(): PortableArray {
    return encodedObjects(this.#count, this.#writer.finish());
  }
}

function writeObject(writer: Writer, object: PortableObject): void {
  const cached = encodings.get(object);
  if (cached !== undefined) return void writer.writeLasting(cached);
  writeSize(writer, object.size);
  for (const name of isSorted(object) ? object.keys() : [...object.keys()].sort(compareNames)) {
    writer.writeBytes(nameBytes(name));
    writeEntry(writer, object.get(name)!);
  }
}

const compareNames = (a: string, b: string): number => (a < b ? -1 : 1);

function isSorted(object: PortableObject): boolean {
  let last = "";
  for (const name of object.keys()) {
    if (name < last) return false;
    last = name;
  }
  return true;
}

/** Number of names whose bytes are remembered; names come only from declared records. */
const MAX_NAMES = 4096;
const bytesOfNames = new Map<string, Uint8Array>();

/** The length of a name, followed by its characters. */
function nameBytes(name: string): Uint8Array {
  const cached = bytesOfNames.get(name);
  if (cached !== undefined) return cached;
  if (name.length === 0 || name.length > 254 || /[^\0-\xff]/.test(name))
    throw new RangeError("bad field name");
  const bytes = Uint8Array.of(name.length, ...Array.from(name, (character) => character.charCodeAt(0)));
  if (bytesOfNames.size < MAX_NAMES) bytesOfNames.set(name, bytes);
  return bytes;
}

/**
 * Serializes fields as portable storage, sorted by name. Throws `RangeError` for values outside the range of their
 * type.
 */
export function writePortable(object: PortableObject): Uint8Array {
  return written(object).finish();
}

/** The same in pieces: long objects that are remembered are not copied. */
export function writePortableInPieces(object: PortableObject): Uint8Array[] {
  return written(object).finishInPieces();
}

function written(object: PortableObject): Writer {
  const writer = new Writer(scratch);
  writer.writeBytes(HEADER);
  writeObject(writer, object);
  return writer;
}
