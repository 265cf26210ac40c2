/** The bytes are not valid: too short, too long, not canonical or impossible. */
export class BadBytes extends Error {
  override name = "BadBytes";
  /** Offset in bytes where reading stopped, if known. */
  readonly at: number | undefined;

  constructor(reason: string, at?: number) {
    super(at === undefined ? reason : `${reason} (at byte ${at})`);
    this.at = at;
  }
}

const TWO_POW_49 = 2 ** 49;

/** A position in bytes; every read checks that the bytes are there. */
export class Reader {
  readonly bytes: Uint8Array;
  position: number;

  constructor(bytes: Uint8Array, position = 0) {
    this.bytes = bytes;
    this.position = position;
  }

  get remaining(): number {
    return this.bytes.length - this.position;
  }

  /** Creates the error to throw, with the position and the reason. */
  bad(reason: string): BadBytes {
    return new BadBytes(reason, this.position);
  }

  readByte(): number {
    if (this.position >= this.bytes.length) throw this.bad("bytes end too early");
    return this.bytes[this.position++]!;
  }

  /** Skips the next `length` bytes; returns the offset where they begin. */
  skip(length: number): number {
    const from = this.position;
    if (length > this.bytes.length - from) throw this.bad("bytes end too early");
    this.position = from + length;
    return from;
  }

  /** A view of the next `length` bytes (not a copy). */
  readBytes(length: number): Uint8Array {
    const from = this.skip(length);
    return new Uint8Array(this.bytes.buffer, this.bytes.byteOffset + from, length);
  }

  /**
   * Reads an unsigned varint, 7 bits per byte, lowest first; at most 64 bits and no superfluous zero byte. Source:
   * common/varint.h. If the bytes end inside a varint, the original accepts what is there; we refuse it.
   */
  readVarint64(): bigint {
    const low = this.#readVarintLow();
    return low < 0 ? BigInt(-1 - low) + (BigInt(this.#readVarintHigh()) << 49n) : BigInt(low);
  }

  /** As `readVarint64`, for values that a number holds exactly. */
  readVarint(): number {
    const low = this.#readVarintLow();
    if (low >= 0) return low;
    const value = -1 - low + this.#readVarintHigh() * TWO_POW_49;
    if (value > Number.MAX_SAFE_INTEGER) throw this.bad("number too large");
    return value;
  }

  /** Skips a varint of 64 bits, with the same checks. */
  skipVarint(): void {
    if (this.#readVarintLow() < 0) this.#readVarintHigh();
  }

  /** Reads the first seven bytes (49 bits); a result of `-1 - value` means that more follow. */
  #readVarintLow(): number {
    const first = this.readByte();
    if (first < 0x80) return first;
    let value = first & 0x7f;
    for (let scale = 2 ** 7; scale < TWO_POW_49; scale *= 2 ** 7) {
      const byte = this.readByte();
      if (byte === 0) throw this.bad("number not written in its shortest form");
      value += (byte & 0x7f) * scale;
      if (byte < 0x80) return value;
    }
    return -1 - value;
  }

  /** Bytes eight to ten: the 15 bits above 2^49. */
  #readVarintHigh(): number {
    let value = 0;
    for (let shift = 0; shift <= 14; shift += 7) {
      const byte = this.readByte();
      if (byte === 0) throw this.bad("number not written in its shortest form");
      if (shift === 14 && byte > 1) throw this.bad("number above 64 bits");
      value |= (byte & 0x7f) << shift;
      if (byte < 0x80) break;
    }
    return value;
  }
}

/** Size of the largest piece of memory that a writer allocates at once, unless one value is longer. */
const MAX_PIECE = 1024 * 1024;

/** Values from this length on are not copied at once, although that makes two more pieces. */
const LONG_VALUE = 16 * 1024;

function viewOf({ buffer, byteOffset, length }: Uint8Array): DataView {
  return new DataView(buffer, byteOffset, length);
}

/** Grows as it is written to. */
export class Writer {
  /** Pieces that are full, and the number of their bytes. */
  readonly #full: Uint8Array[] = [];
  /** Those of them that never change. */
  readonly #lasting = new Set<Uint8Array>();
  #fullLength = 0;
  #bytes: Uint8Array;
  #view: DataView;
  #length = 0;

  /** Begins with memory of this size, or with this memory, which nothing else may write to until `finish`. */
  constructor(begin: number | Uint8Array = 256) {
    this.#bytes = typeof begin === "number" ? new Uint8Array(begin) : begin;
    this.#view = viewOf(this.#bytes);
  }

  get length(): number {
    return this.#fullLength + this.#length;
  }

  #reserve(more: number): void {
    if (this.#length + more <= this.#bytes.length) return;
    this.#full.push(this.#bytes.subarray(0, this.#length));
    this.#fullLength += this.#length;
    const size = Math.max(Math.min(MAX_PIECE, 4 * this.#bytes.length), more);
    this.#bytes = new Uint8Array(size);
    this.#view = viewOf(this.#bytes);
    this.#length = 0;
  }

  #refer(bytes: Uint8Array): void {
    this.#full.push(this.#bytes.subarray(0, this.#length), bytes);
    this.#fullLength += this.#length + bytes.length;
    this.#bytes = this.#bytes.subarray(this.#length);
    this.#view = viewOf(this.#bytes);
    this.#length = 0;
  }

  writeByte(byte: number): void {
    this.#reserve(1);
    this.#bytes[this.#length++] = byte;
  }

  /** Long values are copied only in `finish`, and must not be changed before. */
  writeBytes(bytes: Uint8Array): void {
    if (bytes.length >= LONG_VALUE) return void this.#refer(bytes);
    this.#reserve(bytes.length);
    this.#bytes.set(bytes, this.#length);
    this.#length += bytes.length;
  }

  /** The same for bytes that never change: long ones are not copied in `finishInPieces` either. */
  writeLasting(bytes: Uint8Array): void {
    if (bytes.length >= LONG_VALUE) this.#lasting.add(bytes);
    this.writeBytes(bytes);
  }

  /** Has `length` bytes written by `fill`, which is passed the memory they belong in and their offset in it. */
  writeWith(length: number, fill: (bytes: Uint8Array, at: number) => void): void {
    this.#reserve(length);
    fill(this.#bytes, this.#length);
    this.#length += length;
  }

  /** The low 64 bits of a whole number, little-endian. */
  writeInt64(value: bigint): void {
    this.#reserve(8);
    this.#view.setBigInt64(this.#length, value, true);
    this.#length += 8;
  }

  writeVarint(value: number | bigint): void {
    let rest = value;
    if (rest < 0) throw new RangeError("a varint is not negative");
    if (typeof rest === "bigint") {
      if (rest >> 64n !== 0n) throw new RangeError("a varint has at most 64 bits");
      for (; rest > 0xfffffffn; rest >>= 7n) this.writeByte(Number(rest & 0x7fn) | 0x80);
      rest = Number(rest);
    }
    if (!Number.isSafeInteger(rest)) throw new RangeError("a varint is a whole number");
    for (; rest >= 0x80; rest = Math.floor(rest / 0x80)) this.writeByte((rest % 0x80) | 0x80);
    this.writeByte(rest);
  }

  /** Returns a copy of what was written. */
  finish(): Uint8Array {
    if (this.#full.length === 0) return this.#bytes.slice(0, this.#length);
    return joined(this.#pieces);
  }

  /** Returns what was written in pieces: long values that never change themselves, and copies of what is between. */
  finishInPieces(): Uint8Array[] {
    const pieces: Uint8Array[] = [];
    let between: Uint8Array[] = [];
    for (const piece of this.#pieces) {
      if (!this.#lasting.has(piece)) {
        between.push(piece);
        continue;
      }
      pieces.push(joined(between), piece);
      between = [];
    }
    return [...pieces, joined(between)].filter(({ length }) => length > 0);
  }

  get #pieces(): Uint8Array[] {
    return [...this.#full, this.#bytes.subarray(0, this.#length)];
  }
}

/** Copies of the pieces, one after the other. */
function joined(pieces: readonly Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(pieces.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const piece of pieces) {
    whole.set(piece, at);
    at += piece.length;
  }
  return whole;
}
