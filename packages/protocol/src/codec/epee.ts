import { BadBytes, Reader, Writer } from "./bytes-io.ts";

/**
 * Portable storage: named, typed values in bytes, as peers and binary RPC paths exchange them.
 * Source: contrib/epee/include/storages/portable_storage_{base,from_bin,to_bin}.h.
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
const ARRAY_TAG = 13;
const ARRAY_FLAG = 0x80;

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

/** How many objects, fields and strings a reader takes altogether. */
export type PortableLimits = { readonly objects: number; readonly fields: number; readonly strings: number };
/** Source: http_abstract_invoke.h `default_http_bin_limits`. */
export const httpLimits: PortableLimits = { objects: 196_608, fields: 196_608, strings: 196_608 };
/** Source: levin_abstract_invoke2.h `default_levin_limits`. */
export const peerLimits: PortableLimits = { objects: 8192, fields: 16_384, strings: 16_384 };

const HEADER = new Uint8Array([0x01, 0x11, 0x01, 0x01, 0x01, 0x01, 0x02, 0x01, 0x01]);
const MAX_STRING = 2_000_000_000;
/** Calls the original's reader nests at most; a value inside costs as many levels as there (numbers below). */
const MAX_LEVEL = 99;
/** Fewest bytes an array element takes. (The original wants two for a string, and refuses its own empty ones.) */
const leastBytes = { double: 8, string: 1, bool: 1, object: 1 } as const;

const typeOfTag = new Map<number, PortableType>([
  ...Object.entries(integerTypes).map(([type, { tag }]) => [tag, type as IntegerType] as const),
  ...Object.entries(otherTags).map(([type, tag]) => [tag, type as keyof typeof otherTags] as const),
]);

function isIntegerType(type: PortableType): type is IntegerType {
  return type in integerTypes;
}

class PortableReader {
  readonly #reader: Reader;
  readonly #view: DataView;
  readonly #left: { objects: number; fields: number; strings: number };

  constructor(reader: Reader, limits: PortableLimits) {
    this.#reader = reader;
    this.#view = new DataView(reader.bytes.buffer, reader.bytes.byteOffset, reader.bytes.length);
    this.#left = { ...limits };
  }

  #take(kind: keyof PortableLimits, count: number): void {
    if (count > this.#left[kind]) throw this.#reader.bad(`too many ${kind}`);
    this.#left[kind] -= count;
  }

  #checkLevel(level: number): void {
    if (level > MAX_LEVEL) throw this.#reader.bad("nested too deeply");
  }

  /** A size: its lowest two bits tell how many bytes it has. */
  #readSize(): number {
    const first = this.#reader.bytes[this.#reader.position];
    if (first === undefined) throw this.#reader.bad("bytes end too early");
    const from = this.#reader.skip(1 << (first & 3));
    let size = 0;
    for (let at = this.#reader.position - 1; at >= from; at--) size = size * 256 + this.#reader.bytes[at]!;
    return Math.floor(size / 4);
  }

  #readInteger(type: IntegerType): bigint {
    const { bytes, signed } = integerTypes[type];
    const from = this.#reader.skip(bytes);
    if (bytes === 8) return signed ? this.#view.getBigInt64(from, true) : this.#view.getBigUint64(from, true);
    if (bytes === 4)
      return BigInt(signed ? this.#view.getInt32(from, true) : this.#view.getUint32(from, true));
    if (bytes === 2)
      return BigInt(signed ? this.#view.getInt16(from, true) : this.#view.getUint16(from, true));
    return BigInt(signed ? this.#view.getInt8(from) : this.#view.getUint8(from));
  }

  #readString(): Uint8Array {
    const length = this.#readSize();
    if (length >= MAX_STRING) throw this.#reader.bad("string too long");
    return this.#reader.readBytes(length);
  }

  #readValue(type: PortableType, level: number): ValueOfType[PortableType] {
    if (isIntegerType(type)) {
      this.#checkLevel(level + 2);
      return this.#readInteger(type);
    }
    if (type === "string") {
      this.#checkLevel(level + 5);
      return this.#readString();
    }
    if (type === "object") return this.readObject(level + 1);
    this.#checkLevel(level + 2);
    if (type === "double") return this.#view.getFloat64(this.#reader.skip(8), true);
    const byte = this.#reader.readByte();
    if (byte > 1) throw this.#reader.bad("a boolean is 0 or 1");
    return byte === 1;
  }

  #typeOf(tag: number): PortableType {
    const type = typeOfTag.get(tag);
    if (type === undefined) throw this.#reader.bad(`unknown type ${tag}`);
    return type;
  }

  #readArray(tag: number, level: number): PortableArray {
    const type = this.#typeOf(tag & ~ARRAY_FLAG);
    this.#checkLevel(level + 5);
    const count = this.#readSize();
    const least = isIntegerType(type) ? integerTypes[type].bytes : leastBytes[type];
    if (count > this.#reader.remaining / least) throw this.#reader.bad("count above the bytes left");
    if (type === "object") this.#take("objects", count);
    if (type === "string") this.#take("strings", count);
    const values: unknown[] = [];
    for (let i = 0; i < count; i++) values.push(this.#readValue(type, level + 2));
    return { type, values } as unknown as PortableArray;
  }

  #readEntry(level: number): PortableEntry {
    this.#checkLevel(level + 2);
    const tag = this.#reader.readByte();
    if ((tag & ARRAY_FLAG) !== 0) return this.#readArray(tag, level + 1);
    if (tag === ARRAY_TAG) {
      const inner = this.#reader.readByte();
      if ((inner & ARRAY_FLAG) === 0) throw this.#reader.bad("an array of no type");
      return this.#readArray(inner, level + 2);
    }
    const type = this.#typeOf(tag);
    if (type === "object") this.#take("objects", 1);
    if (type === "string") this.#take("strings", 1);
    const extra = type === "string" ? 2 : 1;
    return { type, value: this.#readValue(type, level + extra) } as unknown as PortableEntry;
  }

  readObject(level: number): PortableObject {
    this.#checkLevel(level + 4);
    const count = this.#readSize();
    this.#take("fields", count);
    const fields = new Map<string, PortableEntry>();
    for (let i = 0; i < count; i++) {
      this.#checkLevel(level + 4);
      const length = this.#reader.readByte();
      if (length === 0) throw this.#reader.bad("a field without name");
      const name = nameAt(this.#reader.bytes, this.#reader.skip(length), length);
      if (fields.has(name)) throw this.#reader.bad("two fields of one name");
      fields.set(name, this.#readEntry(level + 1));
    }
    return fields;
  }
}

/** Names seen, each as one string however often it comes; emptied when a sender makes too many up. */
let names = new Map<number, string>();
const MAX_NAMES = 4096;

/** The name of `length` bytes at a place, one character a byte. */
function nameAt(bytes: Uint8Array, from: number, length: number): string {
  let hash = length;
  for (let i = 0; i < length; i++) hash = (Math.imul(hash, 31) + bytes[from + i]!) | 0;
  const known = names.get(hash);
  if (known !== undefined && isName(known, bytes, from, length)) return known;
  const name = String.fromCharCode(...bytes.subarray(from, from + length));
  if (names.size >= MAX_NAMES) names = new Map();
  names.set(hash, name);
  return name;
}

function isName(name: string, bytes: Uint8Array, from: number, length: number): boolean {
  if (name.length !== length) return false;
  for (let i = 0; i < length; i++) if (name.charCodeAt(i) !== bytes[from + i]) return false;
  return true;
}

/**
 * The fields in portable storage; keeps its own copy of the bytes. Throws `BadBytes` for damaged, too deep or too
 * many; bytes after the last field are ignored, as in the original.
 */
export function readPortable(bytes: Uint8Array, limits: PortableLimits = httpLimits): PortableObject {
  const reader = new Reader(new Uint8Array(bytes));
  const header = reader.readBytes(HEADER.length);
  if (HEADER.some((byte, i) => byte !== header[i])) throw new BadBytes("not portable storage");
  return new PortableReader(reader, limits).readObject(1);
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
  const kept = signed ? BigInt.asIntN(bits, value) : BigInt.asUintN(bits, value);
  if (kept !== value) throw new RangeError(`${value} is not of type ${type}`);
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
  if (entry.type === "object") for (const value of entry.values) writeObject(writer, value);
  else for (const value of entry.values) writeValue(writer, { type: entry.type, value } as PortableScalar);
}

/** Bytes of objects that are written again and again. */
const remembered = new WeakMap<PortableObject, Uint8Array>();

/** Memory every writing begins in: no writing begins within another, and all of them end with a copy. */
const scratch = new Uint8Array(16 * 1024);

/** Makes the bytes of an object once, for all the times it is written; it must not be changed afterwards. */
export function rememberPortable(object: PortableObject): PortableObject {
  const writer = new Writer(scratch);
  writeObject(writer, object);
  remembered.set(object, writer.finish());
  return object;
}

function writeObject(writer: Writer, object: PortableObject): void {
  const known = remembered.get(object);
  if (known !== undefined) return void writer.writeBytes(known);
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

/** Bytes of the names written; there are only those of declared records. */
const bytesOfNames = new Map<string, Uint8Array>();

/** The length of a name and its characters. */
function nameBytes(name: string): Uint8Array {
  const known = bytesOfNames.get(name);
  if (known !== undefined) return known;
  if (name.length === 0 || name.length > 254 || /[^\0-\xff]/.test(name))
    throw new RangeError("bad field name");
  const bytes = Uint8Array.of(name.length, ...Array.from(name, (character) => character.charCodeAt(0)));
  if (bytesOfNames.size < MAX_NAMES) bytesOfNames.set(name, bytes);
  return bytes;
}

/** Portable storage of the fields, sorted by name. Throws `RangeError` for values their type does not have. */
export function writePortable(object: PortableObject): Uint8Array {
  const writer = new Writer(scratch);
  writer.writeBytes(HEADER);
  writeObject(writer, object);
  return writer.finish();
}
