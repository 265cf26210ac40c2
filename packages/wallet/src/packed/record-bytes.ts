/** Writes and reads the values of one packed record: numbers take as many groups of seven bits as they need. */

const FIRST_BYTES = 256;
const NO_BYTES = Buffer.alloc(0);
const TEXT = new TextDecoder();

export class RecordWriter {
  /** Most wallets write no record for a long time. */
  #buffer: Buffer = NO_BYTES;
  #at = 0;

  /** Drops what was written, for the next record. */
  begin(): this {
    this.#at = 0;
    return this;
  }

  /** The bytes of the record, valid until the next one begins. */
  get record(): Uint8Array {
    return this.#buffer.subarray(0, this.#at);
  }

  #room(bytes: number): void {
    if (this.#at + bytes <= this.#buffer.length) return;
    const larger = Buffer.allocUnsafeSlow(Math.max(FIRST_BYTES, 2 * (this.#at + bytes)));
    this.#buffer.copy(larger, 0, 0, this.#at);
    this.#buffer = larger;
  }

  byte(value: number): void {
    this.#room(1);
    this.#buffer[this.#at++] = value;
  }

  /** Bytes of a length that the reader knows. */
  bytes(value: Uint8Array): void {
    this.#room(value.length);
    this.#buffer.set(value, this.#at);
    this.#at += value.length;
  }

  /** A safe integer of at least 0; throws `RangeError` for any other number. */
  number(value: number): void {
    if (!Number.isSafeInteger(value) || value < 0) throw new RangeError(`not a count: ${value}`);
    this.#room(8);
    let rest = value;
    for (; rest >= 0x80; rest = Math.floor(rest / 0x80)) this.#buffer[this.#at++] = (rest % 0x80) | 0x80;
    this.#buffer[this.#at++] = rest;
  }

  /** An amount or unlock time of at least 0; throws `RangeError` for a negative one. */
  amount(value: bigint): void {
    if (value < 0n) throw new RangeError(`a negative amount: ${value}`);
    let rest = value;
    for (; rest > BigInt(Number.MAX_SAFE_INTEGER); rest >>= 7n) this.byte(Number(rest & 0x7fn) | 0x80);
    this.number(Number(rest));
  }

  /** Text of any length. */
  text(value: string): void {
    const length = Buffer.byteLength(value);
    this.number(length);
    this.#room(length);
    this.#buffer.write(value, this.#at);
    this.#at += length;
  }

  /** Bytes of any length. */
  block(value: Uint8Array): void {
    this.number(value.length);
    this.bytes(value);
  }
}

export class RecordReader {
  readonly #bytes: Uint8Array;
  #at: number;

  constructor(bytes: Uint8Array, at: number) {
    this.#bytes = bytes;
    this.#at = at;
  }

  byte(): number {
    return this.#bytes[this.#at++]!;
  }

  /** Index of the next byte. */
  get at(): number {
    return this.#at;
  }

  /** Passes over a number or an amount. */
  skip(): void {
    while (this.#bytes[this.#at++]! >= 0x80);
  }

  /** A copy of the next bytes. */
  bytes(length: number): Uint8Array {
    const copy = new Uint8Array(this.#bytes.subarray(this.#at, this.#at + length));
    this.#at += length;
    return copy;
  }

  number(): number {
    let byte = this.#bytes[this.#at++]!;
    let value = byte & 0x7f;
    for (let unit = 0x80; byte >= 0x80; unit *= 0x80) {
      byte = this.#bytes[this.#at++]!;
      value += (byte & 0x7f) * unit;
    }
    return value;
  }

  amount(): bigint {
    const [from, bytes] = [this.#at, this.#bytes];
    let end = from;
    while (bytes[end]! >= 0x80) end += 1;
    // Seven groups of seven bits fit into a number.
    if (end - from < 7) return BigInt(this.number());
    this.#at = end + 1;
    let value = 0n;
    for (let at = end; at >= from; at--) value = (value << 7n) | BigInt(bytes[at]! & 0x7f);
    return value;
  }

  text(): string {
    const length = this.number();
    const text = TEXT.decode(this.#bytes.subarray(this.#at, this.#at + length));
    this.#at += length;
    return text;
  }

  block(): Uint8Array {
    return this.bytes(this.number());
  }
}
