/**
 * Encodes plain data as bytes: a deterministic subset of CBOR. A `number` takes at most 32 bits (else it is a double),
 * a `bigint` always 64, so that both are read back with their type; maps have text keys; `undefined` has its own code.
 * Source: RFC 8949.
 */

export type Plain =
  | undefined
  | null
  | boolean
  | number
  | bigint
  | string
  | Uint8Array
  | readonly Plain[]
  | ReadonlyMap<string, Plain>
  | { readonly [key: string]: Plain };

/** The bytes are not an encoding that `writeCbor` produces. */
export class BadCbor extends Error {
  constructor(message: string) {
    super(message);
    this.name = "BadCbor";
  }
}

const UNSIGNED = 0;
const NEGATIVE = 1;
const BYTES = 2;
const TEXT = 3;
const LIST = 4;
const MAP = 5;
const TAG = 6;
/** Tag of a `Map`, as opposed to a record. Source: IANA CBOR tags, 259. */
const MAP_TAG = 259;
const FALSE = 0xf4;
const TRUE = 0xf5;
const NULL = 0xf6;
const UNDEFINED = 0xf7;
const DOUBLE = 0xfb;
const MAX_DEPTH = 64;

/** Encodes plain data; a function, symbol or class instance throws `TypeError`. */
export function writeCbor(value: Plain): Uint8Array {
  const writer = new Writer();
  writer.value(value);
  return writer.bytes();
}

/**
 * Property names already decoded, by a hash of their bytes; emptied when there are more than our own data could have.
 */
export type NamesRead = Map<number, string>;

/**
 * Decodes what `writeCbor` wrote; anything else throws `BadCbor`. Sharing one `names` speeds up decoding many records
 * of one kind.
 */
export function readCbor(bytes: Uint8Array, names: NamesRead = new Map()): Plain {
  const reader = new Reader(bytes, names);
  const value = reader.value(0);
  if (reader.at !== bytes.length) throw new BadCbor("trailing bytes");
  return value;
}

class Writer {
  readonly #names = new Map<string, Uint8Array>();
  #buffer = Buffer.allocUnsafe(4096);
  #at = 0;

  bytes(): Uint8Array {
    return new Uint8Array(this.#buffer.subarray(0, this.#at));
  }

  value(value: Plain): void {
    if (value === undefined) this.#byte(UNDEFINED);
    else if (value === null) this.#byte(NULL);
    else if (typeof value === "boolean") this.#byte(value ? TRUE : FALSE);
    else if (typeof value === "number") this.#number(value);
    else if (typeof value === "bigint") this.#bigint(value);
    else if (typeof value === "string") this.#text(value);
    else if (value instanceof Uint8Array) this.#raw(BYTES, value);
    else this.#container(value);
  }

  #container(value: readonly Plain[] | ReadonlyMap<string, Plain> | { readonly [key: string]: Plain }): void {
    if (isList(value)) {
      this.#head(LIST, value.length);
      for (const item of value) this.value(item);
      return;
    }
    if (value instanceof Map) this.#head(TAG, MAP_TAG);
    else if (Object.getPrototypeOf(value) !== Object.prototype) throw new TypeError("not plain data");
    const entries = value instanceof Map ? [...value] : Object.entries(value);
    this.#head(MAP, entries.length);
    for (const [key, item] of entries) {
      if (value instanceof Map) this.#text(key);
      else this.#name(key);
      this.value(item);
    }
  }

  /** Writes a property name from a cache of encodings: names are few, and each is written thousands of times. */
  #name(name: string): void {
    let bytes = this.#names.get(name);
    if (bytes === undefined) {
      // When decoded, this property would replace the object's prototype.
      if (name === "__proto__") throw new TypeError("not plain data");
      bytes = Buffer.from(name, "utf8");
      this.#names.set(name, bytes);
    }
    this.#raw(TEXT, bytes);
  }

  #number(value: number): void {
    if (Number.isInteger(value) && value >= 0 && value < 2 ** 32 && !Object.is(value, -0)) {
      this.#head(UNSIGNED, value);
    } else if (Number.isInteger(value) && value < 0 && value >= -(2 ** 32)) {
      this.#head(NEGATIVE, -1 - value);
    } else {
      this.#reserve(9);
      this.#at = this.#buffer.writeUInt8(DOUBLE, this.#at);
      this.#at = this.#buffer.writeDoubleBE(value, this.#at);
    }
  }

  #bigint(value: bigint): void {
    if (value < 0n || value >= 1n << 64n) throw new TypeError("not an unsigned 64-bit integer");
    this.#reserve(9);
    this.#at = this.#buffer.writeUInt8((UNSIGNED << 5) | 27, this.#at);
    this.#at = this.#buffer.writeBigUInt64BE(value, this.#at);
  }

  #text(value: string): void {
    this.#raw(TEXT, Buffer.from(value, "utf8"));
  }

  #raw(major: number, bytes: Uint8Array): void {
    this.#head(major, bytes.length);
    this.#reserve(bytes.length);
    this.#buffer.set(bytes, this.#at);
    this.#at += bytes.length;
  }

  #head(major: number, count: number): void {
    this.#reserve(5);
    if (count < 24) {
      this.#buffer[this.#at++] = (major << 5) | count;
    } else if (count < 256) {
      this.#buffer[this.#at++] = (major << 5) | 24;
      this.#buffer[this.#at++] = count;
    } else {
      this.#buffer[this.#at++] = (major << 5) | 26;
      this.#at = this.#buffer.writeUInt32BE(count, this.#at);
    }
  }

  #byte(value: number): void {
    this.#reserve(1);
    this.#buffer[this.#at++] = value;
  }

  #reserve(size: number): void {
    if (this.#at + size <= this.#buffer.length) return;
    const larger = Buffer.allocUnsafe(Math.max(this.#buffer.length * 2, this.#at + size));
    larger.set(this.#buffer.subarray(0, this.#at));
    this.#buffer = larger;
  }
}

function isList(value: object): value is readonly Plain[] {
  return Array.isArray(value);
}

const MAX_NAMES = 1024;

class Reader {
  at = 0;
  readonly #bytes: Uint8Array;
  readonly #view: DataView;
  readonly #names: NamesRead;

  constructor(bytes: Uint8Array, names: NamesRead) {
    this.#names = names;
    this.#bytes = new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  value(depth: number): Plain {
    if (depth > MAX_DEPTH) throw new BadCbor("too deep");
    const initial = this.#bytes[this.#take(1)]!;
    const major = initial >> 5;
    if (major === 7) return this.#simple(initial);
    if (initial === ((UNSIGNED << 5) | 27)) return this.#view.getBigUint64(this.#take(8));
    const count = this.#count(initial & 31);
    if (major === UNSIGNED) return count;
    if (major === NEGATIVE) return -1 - count;
    if (major === BYTES) return this.#copy(count);
    if (major === TEXT) return this.#text(count);
    if (major === LIST) return this.#list(count, depth);
    if (major === MAP) return this.#record(count, depth);
    return this.#tagged(count, depth);
  }

  #tagged(tag: number, depth: number): Plain {
    const initial = this.#bytes[this.#take(1)]!;
    if (tag !== MAP_TAG || initial >> 5 !== MAP) throw new BadCbor("unknown tag");
    const map = new Map<string, Plain>();
    for (let remaining = this.#count(initial & 31); remaining > 0; remaining--) {
      const key = this.value(depth + 1);
      if (typeof key !== "string") throw new BadCbor("key is no text");
      map.set(key, this.value(depth + 1));
    }
    return map;
  }

  #list(count: number, depth: number): Plain[] {
    const list: Plain[] = [];
    for (let i = 0; i < count; i++) list.push(this.value(depth + 1));
    return list;
  }

  #record(count: number, depth: number): { readonly [key: string]: Plain } {
    const record: { [key: string]: Plain } = {};
    for (let i = 0; i < count; i++) {
      const name = this.#name();
      const value = this.value(depth + 1);
      if (name === "__proto__") throw new BadCbor("a field no record has");
      record[name] = value;
    }
    return record;
  }

  /** Reads a property name: names are few and each is read thousands of times, so the string is created only once. */
  #name(): string {
    const initial = this.#bytes[this.#take(1)]!;
    if (initial >> 5 !== TEXT) throw new BadCbor("key is no text");
    const length = this.#count(initial & 31);
    const from = this.#take(length);
    let hash = length;
    for (let i = from; i < from + length; i++) hash = (Math.imul(hash, 31) + this.#bytes[i]!) | 0;
    const usualName = this.#names.get(hash);
    if (usualName !== undefined && this.#isAt(usualName, from, length)) return usualName;
    this.at = from;
    const name = this.#text(length);
    if (this.#names.size >= MAX_NAMES) this.#names.clear();
    this.#names.set(hash, name);
    return name;
  }

  /** Whether the bytes at `from` equal this ASCII name. */
  #isAt(name: string, from: number, length: number): boolean {
    if (name.length !== length) return false;
    for (let i = 0; i < length; i++) if (name.charCodeAt(i) !== this.#bytes[from + i]) return false;
    return true;
  }

  #simple(initial: number): Plain {
    if (initial === FALSE) return false;
    if (initial === TRUE) return true;
    if (initial === NULL) return null;
    if (initial === UNDEFINED) return undefined;
    if (initial === DOUBLE) return this.#view.getFloat64(this.#take(8));
    throw new BadCbor("unknown simple value");
  }

  #count(short: number): number {
    if (short < 24) return short;
    if (short === 24) return this.#bytes[this.#take(1)]!;
    if (short === 26) return this.#view.getUint32(this.#take(4));
    throw new BadCbor("unknown length");
  }

  #text(size: number): string {
    const from = this.#take(size);
    return Buffer.from(this.#bytes.buffer, this.#bytes.byteOffset + from, size).toString("utf8");
  }

  /** Copies the bytes, so that the decoded value does not keep the whole record in memory. */
  #copy(size: number): Uint8Array {
    const from = this.#take(size);
    return this.#bytes.slice(from, from + size);
  }

  #take(size: number): number {
    const from = this.at;
    if (from + size > this.#bytes.length) throw new BadCbor("too short");
    this.at = from + size;
    return from;
  }
}
