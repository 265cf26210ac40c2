import { Reader } from "./bytes-io.ts";
import { ARRAY_FLAG, ARRAY_TAG, integerShape, type PortableType, typeOfPortableTag } from "./epee.ts";

/** The limits of a reader for one storage. */
export interface PortableLimits {
  readonly objects: number;
  readonly fields: number;
  readonly strings: number;
  /** Booleans in arrays: they are checked one by one, unlike other values of fixed size. */
  readonly booleans: number;
  /** Memory in bytes that the values read may take, as estimated; the bytes themselves are not copied. */
  readonly memoryBytes: number;
}

const MAX_BOOLEANS = 65_536;
/** Source: http_abstract_invoke.h `default_http_bin_limits`. */
export const httpLimits: PortableLimits = {
  objects: 196_608,
  fields: 196_608,
  strings: 196_608,
  booleans: MAX_BOOLEANS,
  memoryBytes: Number.POSITIVE_INFINITY,
};
/** Source: levin_abstract_invoke2.h `default_levin_limits`; each message declares its own memory. */
export const peerLimits: PortableLimits = {
  objects: 8192,
  fields: 16_384,
  strings: 16_384,
  booleans: MAX_BOOLEANS,
  memoryBytes: 4 * 1024 * 1024,
};

const MAX_STRING_BYTES = 2_000_000_000;
/**
 * Maximum nesting of calls in the original's reader; a nested value takes as many levels here as there (numbers below).
 */
const MAX_LEVEL = 99;
/**
 * Minimum length in bytes of an array element. (The original requires two for a string, and so refuses its own empty
 * ones.)
 */
const minBytes = { double: 8, string: 1, bool: 1, object: 1 } as const;

/** Length in bytes of each value of a type whose values need not be checked; undefined for other types. */
function fixedSize(type: PortableType): number | undefined {
  return type === "double" ? 8 : integerShape(type)?.bytes;
}

/** What precedes the content of a field: its type, the offset of its content, and the number of its values. */
export interface PortableHead {
  readonly type: PortableType;
  /** Number of values of an array; undefined for a single value. */
  readonly count: number | undefined;
  readonly position: number;
  readonly level: number;
}

type Countable = "objects" | "fields" | "strings" | "booleans";
type Counts = Record<Countable, number>;

/** Reads over portable storage and checks it, without building values. Throws `BadBytes`. */
export class PortableScanner {
  readonly #reader: Reader;
  readonly #remaining: Counts | undefined;

  /** Without `limits`, the bytes must have been checked before. */
  constructor(bytes: Uint8Array, position: number, limits?: Readonly<Counts>) {
    this.#reader = new Reader(bytes, position);
    this.#remaining = limits && { ...limits };
  }

  get position(): number {
    return this.#reader.position;
  }

  /** Moves to a position that was found before. */
  moveTo(position: number): void {
    this.#reader.position = position;
  }

  /** A size: its lowest two bits encode how many bytes it has. */
  readSize(): number {
    const { bytes } = this.#reader;
    const first = bytes[this.#reader.position];
    if (first === undefined) throw this.#reader.bad("bytes end too early");
    const from = this.#reader.skip(1 << (first & 3));
    let size = 0;
    for (let at = this.#reader.position - 1; at >= from; at--) size = size * 256 + bytes[at]!;
    return Math.floor(size / 4);
  }

  /** Goes over the name of a field: its length in bytes, after which its characters come. */
  skipName(): void {
    const length = this.#reader.readByte();
    if (length === 0) throw this.#reader.bad("a field without name");
    this.#reader.skip(length);
  }

  readHead(level: number): PortableHead {
    this.#checkLevel(level + 2);
    const tag = this.#reader.readByte();
    if ((tag & ARRAY_FLAG) !== 0) return this.#readArrayHead(tag, level + 1);
    if (tag === ARRAY_TAG) {
      const inner = this.#reader.readByte();
      if ((inner & ARRAY_FLAG) === 0) throw this.#reader.bad("an array of no type");
      return this.#readArrayHead(inner, level + 2);
    }
    const type = this.#typeOf(tag);
    if (type === "object") this.#count("objects", 1);
    if (type === "string") this.#count("strings", 1);
    const { position } = this.#reader;
    return { type, count: undefined, position, level: level + (type === "string" ? 2 : 1) };
  }

  skipContent({ type, count, level }: PortableHead): void {
    if (count === undefined) return void this.skipValue(type, level);
    const size = fixedSize(type);
    if (size !== undefined) {
      this.#reader.skip(count * size);
      return;
    }
    for (let i = 0; i < count; i++) this.skipValue(type, level);
  }

  skipValue(type: PortableType, level: number): void {
    if (type === "object") return void this.skipObject(level + 1);
    if (type === "string") {
      this.#checkLevel(level + 5);
      const length = this.readSize();
      if (length >= MAX_STRING_BYTES) throw this.#reader.bad("string too long");
      this.#reader.skip(length);
      return;
    }
    this.#checkLevel(level + 2);
    const size = fixedSize(type);
    if (size !== undefined) this.#reader.skip(size);
    else if (this.#reader.readByte() > 1) throw this.#reader.bad("a boolean is 0 or 1");
  }

  skipObject(level: number): void {
    this.#checkLevel(level + 4);
    const count = this.readSize();
    this.#count("fields", count);
    if (count > this.#reader.remaining) throw this.#reader.bad("count above the bytes left");
    const names = this.#remaining && new NameCheck(this.#reader);
    for (let i = 0; i < count; i++) {
      const at = this.#reader.position;
      this.skipName();
      names?.add(at, i);
      this.#skipField(level + 1);
    }
  }

  /** What follows a name. Nothing is made for values of fixed size: most are, and there may be many. */
  #skipField(level: number): void {
    if (this.skipFixed() === undefined) this.skipContent(this.readHead(level));
    else this.#checkLevel(level + 3);
  }

  /** Goes over a tag and the single value of fixed size after it; returns its type, undefined if others follow. */
  skipFixed(): PortableType | undefined {
    const { bytes, position } = this.#reader;
    const type = typeOfPortableTag(bytes[position]!);
    const size = type === undefined ? undefined : fixedSize(type);
    if (size === undefined) return undefined;
    this.#reader.skip(1 + size);
    return type;
  }

  #readArrayHead(tag: number, level: number): PortableHead {
    const type = this.#typeOf(tag & ~ARRAY_FLAG);
    this.#checkLevel(level + 5);
    const count = this.readSize();
    const size = integerShape(type)?.bytes ?? minBytes[type as keyof typeof minBytes];
    if (count > this.#reader.remaining / size) throw this.#reader.bad("count above the bytes left");
    if (type === "object") this.#count("objects", count);
    if (type === "string") this.#count("strings", count);
    if (type === "bool") this.#count("booleans", count);
    return { type, count, position: this.#reader.position, level: level + 2 };
  }

  #typeOf(tag: number): PortableType {
    const type = typeOfPortableTag(tag);
    if (type === undefined) throw this.#reader.bad(`unknown type ${tag}`);
    return type;
  }

  #count(kind: Countable, count: number): void {
    if (this.#remaining === undefined) return;
    if (count > this.#remaining[kind]) throw this.#reader.bad(`too many ${kind}`);
    this.#remaining[kind] -= count;
  }

  #checkLevel(level: number): void {
    if (level > MAX_LEVEL) throw this.#reader.bad("nested too deeply");
  }
}

/** Checks that no two names of an object are the same. Names in ascending order, as all programs write them, cost nothing. */
class NameCheck {
  readonly #reader: Reader;
  /** Where the first name begins (its length, then its characters), and the last, as long as they ascend. */
  readonly #first: number;
  #last: number | undefined;
  #fieldNames: Set<string> | undefined;

  constructor(reader: Reader) {
    this.#reader = reader;
    this.#first = reader.position;
  }

  /** The name at a position, which `before` others precede. */
  add(at: number, before: number): void {
    if (this.#fieldNames === undefined && (this.#last === undefined || this.#compare(this.#last, at) < 0)) {
      this.#last = at;
      return;
    }
    this.#fieldNames ??= this.#names(before);
    const name = this.#nameAt(at);
    if (this.#fieldNames.has(name)) throw this.#reader.bad("two fields of one name");
    this.#fieldNames.add(name);
  }

  /** The first names, which were checked before. */
  #names(count: number): Set<string> {
    const names = new Set<string>();
    const scanner = new PortableScanner(this.#reader.bytes, this.#first);
    for (let i = 0; i < count; i++) {
      names.add(this.#nameAt(scanner.position));
      scanner.skipName();
      scanner.skipContent(scanner.readHead(0));
    }
    return names;
  }

  #nameAt(at: number): string {
    const { bytes } = this.#reader;
    return String.fromCharCode(...bytes.subarray(at + 1, at + 1 + bytes[at]!));
  }

  #compare(a: number, b: number): number {
    const { bytes } = this.#reader;
    const [aLength, bLength] = [bytes[a]!, bytes[b]!];
    for (let i = 1; i <= aLength && i <= bLength; i++) {
      const difference = bytes[a + i]! - bytes[b + i]!;
      if (difference !== 0) return difference;
    }
    return aLength - bLength;
  }
}
