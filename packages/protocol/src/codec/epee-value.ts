import { BadBytes } from "./bytes-io.ts";
import { HEADER, integerShape, type PortableEntry, type PortableObject, type PortableType } from "./epee.ts";
import { httpLimits, type PortableHead, type PortableLimits, PortableScanner } from "./epee-scan.ts";

/** Estimated memory of what is built: an array of bytes beside the bytes themselves, an object, a place in either. */
const VIEW_BYTES = 112;
const OBJECT_BYTES = 64;
const SLOT_BYTES = 16;

/** Bytes that were checked, and how much memory may be built from them. */
class PortableSource {
  readonly bytes: Uint8Array;
  readonly view: DataView;
  /** What all values are found with: none of them is read while another one is looked for. */
  readonly scanner: PortableScanner;
  readonly #limit: number;
  memoryBytes = 0;

  constructor(bytes: Uint8Array, memoryBytes: number) {
    this.bytes = bytes;
    this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
    this.scanner = new PortableScanner(bytes, 0);
    this.#limit = memoryBytes;
  }

  charge(bytes: number): void {
    this.memoryBytes += bytes;
    if (this.memoryBytes > this.#limit) throw new BadBytes("needs more memory than declared");
  }
}

/** Names of declared fields, found among those of an object without building them. */
export class PortableNames {
  readonly names: readonly string[];
  #bytes: readonly Uint8Array[] | undefined;

  constructor(names: readonly string[]) {
    this.names = [...names].sort();
  }

  /** Which of the names begins at `at` (its length first); -1 for another. `next` is tried first: names are sorted. */
  indexAt(bytes: Uint8Array, at: number, next: number): number {
    // Most records that are declared are never read.
    this.#bytes ??= this.names.map((name) => Uint8Array.from(name, (character) => character.charCodeAt(0)));
    const names = this.#bytes;
    if (next < names.length && isAt(names[next]!, bytes, at)) return next;
    return names.findIndex((name) => isAt(name, bytes, at));
  }
}

function isAt(name: Uint8Array, bytes: Uint8Array, at: number): boolean {
  if (bytes[at] !== name.length) return false;
  for (let i = 0; i < name.length; i++) if (bytes[at + 1 + i] !== name[i]) return false;
  return true;
}

/** A value in portable storage whose bytes were checked. Nothing of it is built before it is read. */
export class PortableValue {
  readonly #source: PortableSource;
  #type: PortableType;
  #count: number | undefined;
  #position: number;
  /** Where the bytes after it begin, once that is known. */
  #end: number | undefined;

  constructor(source: PortableSource, { type, count, position }: Omit<PortableHead, "level">) {
    this.#source = source;
    this.#type = type;
    this.#count = count;
    this.#position = position;
    this.#end = undefined;
  }

  get type(): PortableType {
    return this.#type;
  }

  /** Values of an array; undefined: a single value. */
  get count(): number | undefined {
    return this.#count;
  }

  get isArray(): boolean {
    return this.count !== undefined;
  }

  /** A single integer of any type; undefined for other values. */
  get integer(): bigint | undefined {
    const shape = this.isArray ? undefined : integerShape(this.type);
    if (shape === undefined) return undefined;
    const { view } = this.#source;
    const at = this.#position;
    const { bytes, signed } = shape;
    if (bytes === 8) return signed ? view.getBigInt64(at, true) : view.getBigUint64(at, true);
    if (bytes === 4) return BigInt(signed ? view.getInt32(at, true) : view.getUint32(at, true));
    if (bytes === 2) return BigInt(signed ? view.getInt16(at, true) : view.getUint16(at, true));
    return BigInt(signed ? view.getInt8(at) : view.getUint8(at));
  }

  /** A single boolean; undefined for other values. */
  get boolean(): boolean | undefined {
    return this.type === "bool" && !this.isArray ? this.#source.bytes[this.#position] === 1 : undefined;
  }

  /** The bytes of a single string, as a view; undefined for other values. */
  get bytes(): Uint8Array | undefined {
    if (this.type !== "string" || this.isArray) return undefined;
    this.#source.charge(VIEW_BYTES);
    const { bytes, scanner } = this.#source;
    scanner.moveTo(this.#position);
    const length = scanner.readSize();
    return new Uint8Array(bytes.buffer, bytes.byteOffset + scanner.position, length);
  }

  /** Estimated memory of all that was built from the storage so far. */
  get memoryBytes(): number {
    return this.#source.memoryBytes;
  }

  /** Accounts for memory that the caller builds from this value. */
  charge(bytes: number): void {
    this.#source.charge(bytes);
  }

  /** The declared fields of a single object, in the order of `names`; undefined for other values. */
  fields(declared: PortableNames): (PortableValue | undefined)[] | undefined {
    if (this.type !== "object" || this.isArray) return undefined;
    this.#source.charge(OBJECT_BYTES + SLOT_BYTES * declared.names.length);
    const values = this.#noneOf(declared);
    const { scanner } = this.#source;
    scanner.moveTo(this.#position);
    this.#findFields(declared, this.#roomFor(declared), values);
    this.#end = scanner.position;
    return values;
  }

  /** Reads each value of an array. */
  map<T>(read: (value: PortableValue) => T): T[] {
    const { type, count = 0 } = this;
    this.#source.charge(SLOT_BYTES * count);
    const values: T[] = [];
    let position = this.#position;
    for (let i = 0; i < count; i++) {
      const value = new PortableValue(this.#source, { type, count: undefined, position });
      values.push(read(value));
      position = value.#findEnd();
    }
    return values;
  }

  /**
   * Reads each object of an array by its declared fields, in the order of `names`; undefined for other values. The
   * values passed to `read` are valid only until it returns: those of the next object take their place, since a ring
   * is a list of many small objects.
   */
  mapFields<T>(
    declared: PortableNames,
    read: (fields: readonly (PortableValue | undefined)[]) => T,
  ): T[] | undefined {
    const { type, count } = this;
    if (type !== "object" || count === undefined) return undefined;
    if (count === 0) return [];
    const source = this.#source;
    const { scanner } = source;
    source.charge(SLOT_BYTES * count);
    const room = this.#roomFor(declared);
    const values = this.#noneOf(declared);
    const objects: T[] = [];
    let position = this.#position;
    for (let i = 0; i < count; i++) {
      source.charge(OBJECT_BYTES + SLOT_BYTES * declared.names.length);
      values.fill(undefined);
      scanner.moveTo(position);
      this.#findFields(declared, room, values);
      position = scanner.position;
      objects.push(read(values));
    }
    return objects;
  }

  #noneOf({ names }: PortableNames): (PortableValue | undefined)[] {
    return new Array<PortableValue | undefined>(names.length).fill(undefined);
  }

  /** Values that become those of declared fields once these are found. */
  #roomFor({ names }: PortableNames): PortableValue[] {
    const nowhere = { type: this.type, count: undefined, position: this.#position };
    return names.map(() => new PortableValue(this.#source, nowhere));
  }

  /** Finds the declared fields of the object at the scanner's position, and moves behind it. */
  #findFields(
    declared: PortableNames,
    room: readonly PortableValue[],
    values: (PortableValue | undefined)[],
  ): void {
    const { bytes, scanner } = this.#source;
    let next = 0;
    for (let remaining = scanner.readSize(); remaining > 0; remaining--) {
      const index = declared.indexAt(bytes, scanner.position, next);
      scanner.skipName();
      const value = room[index];
      const begin = scanner.position + 1;
      const type = scanner.skipFixed();
      const head = type === undefined ? scanner.readHead(0) : undefined;
      if (head !== undefined) scanner.skipContent(head);
      if (value === undefined) continue;
      if (head === undefined) value.#become(type!, undefined, begin);
      else value.#become(head.type, head.count, head.position);
      values[index] = value;
      next = index + 1;
    }
  }

  #become(type: PortableType, count: number | undefined, position: number): void {
    this.#type = type;
    this.#count = count;
    this.#position = position;
    this.#end = undefined;
  }

  /** Where a single value ends. */
  #findEnd(): number {
    if (this.#end !== undefined) return this.#end;
    const { scanner } = this.#source;
    scanner.moveTo(this.#position);
    scanner.skipValue(this.type, 0);
    return scanner.position;
  }

  /** Everything in it, for those who have no declaration. */
  toEntry(): PortableEntry {
    const { type } = this;
    return (
      this.isArray ? { type, values: this.map((value) => value.#single()) } : { type, value: this.#single() }
    ) as PortableEntry;
  }

  #single(): bigint | boolean | number | Uint8Array | PortableObject {
    if (this.type === "double") return this.#source.view.getFloat64(this.#position, true);
    if (this.type === "object") return this.#tree();
    return (this.integer ?? this.boolean ?? this.bytes)!;
  }

  #tree(): PortableObject {
    const { bytes } = this.#source;
    const fields = new Map<string, PortableEntry>();
    this.#eachField((at, head) => {
      const name = String.fromCharCode(...bytes.subarray(at + 1, at + 1 + bytes[at]!));
      fields.set(name, new PortableValue(this.#source, head).toEntry());
    });
    return fields;
  }

  /** Calls with the position of each field's name and what follows it. */
  #eachField(visit: (at: number, head: PortableHead) => void): void {
    const { scanner } = this.#source;
    scanner.moveTo(this.#position);
    const count = scanner.readSize();
    for (let i = 0; i < count; i++) {
      const at = scanner.position;
      scanner.skipName();
      const head = scanner.readHead(0);
      scanner.skipContent(head);
      const next = scanner.position;
      visit(at, head);
      scanner.moveTo(next);
    }
    this.#end = scanner.position;
  }
}

/**
 * The object in portable storage, all of it checked, nothing of it built: a declaration reads its fields. It refers to
 * `bytes`, which must not change. Throws `BadBytes` for damaged, too deep or too many; bytes after the last field are
 * ignored, as in the original.
 */
export function openPortable(bytes: Uint8Array, limits: PortableLimits = httpLimits): PortableValue {
  if (HEADER.some((byte, i) => byte !== bytes[i])) throw new BadBytes("not portable storage");
  new PortableScanner(bytes, HEADER.length, limits).skipObject(1);
  const source = new PortableSource(bytes, limits.memoryBytes);
  return new PortableValue(source, { type: "object", count: undefined, position: HEADER.length });
}

/** All fields in portable storage, for those who have no declaration of them. Throws `BadBytes`. */
export function readPortable(bytes: Uint8Array, limits?: PortableLimits): PortableObject {
  const entry = openPortable(new Uint8Array(bytes), limits).toEntry();
  return (entry as { readonly value: PortableObject }).value;
}
