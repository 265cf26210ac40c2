/**
 * Records of bytes, one after the other in chunks. What was written stays as it is, also for a view that was taken
 * before later records were removed.
 */

/** Records lie within one chunk; a longer one has a chunk of its own. */
const CHUNK_BYTES = 65_536;
const FIRST_CHUNK_BYTES = 512;

/** Where a record begins: a number below 2^32. */
export type RecordAddress = number;

/** Records as they were at one moment; they can be read for as long as the view exists. */
export class RecordView {
  readonly #chunks: readonly Uint8Array[];

  constructor(chunks: readonly Uint8Array[]) {
    this.#chunks = chunks;
  }

  chunkOf(address: RecordAddress): Uint8Array {
    return this.#chunks[Math.floor(address / CHUNK_BYTES)]!;
  }
}

export class Records {
  #chunks: Uint8Array[] = [];
  /** Bytes of the last chunk that are in use. */
  #used = CHUNK_BYTES;

  /** Bytes held for records, free ones at the end included. */
  get bytes(): number {
    return this.#chunks.reduce((sum, { length }) => sum + length, 0);
  }

  /** Copies a record to the end. Throws `RangeError` if all records together exceed 4 GiB. */
  add(record: Uint8Array): RecordAddress {
    if (this.#used + record.length > CHUNK_BYTES) {
      const isLarge = record.length > CHUNK_BYTES / 16;
      this.#chunks.push(new Uint8Array(Math.max(isLarge ? CHUNK_BYTES : FIRST_CHUNK_BYTES, record.length)));
      this.#used = 0;
    }
    const place = this.#chunks.length - 1;
    if ((place + 1) * CHUNK_BYTES > 2 ** 32) throw new RangeError("the records of a wallet exceed 4 GiB");
    let chunk = this.#chunks[place]!;
    if (this.#used + record.length > chunk.length) {
      const larger = new Uint8Array(Math.min(CHUNK_BYTES, 2 * (this.#used + record.length)));
      larger.set(chunk.subarray(0, this.#used));
      this.#chunks[place] = larger;
      // Records may be secret, and views have a chunk of their own once records were removed.
      chunk.fill(0);
      chunk = larger;
    }
    chunk.set(record, this.#used);
    const address = place * CHUNK_BYTES + this.#used;
    this.#used += record.length;
    return address;
  }

  /** Copies records that lie one after the other in `bytes` to the end; returns the address of each. */
  addAll(bytes: Uint8Array, lengths: Uint32Array, tell: (address: RecordAddress) => void): void {
    let from = 0;
    for (let first = 0; first < lengths.length; ) {
      const room = CHUNK_BYTES - this.#used;
      const limit = lengths[first]! > room ? Math.max(CHUNK_BYTES, lengths[first]!) : room;
      let [next, size] = [first, 0];
      while (next < lengths.length && size + lengths[next]! <= limit) size += lengths[next++]!;
      let address = this.add(bytes.subarray(from, from + size));
      from += size;
      for (; first < next; first++) {
        tell(address);
        address += lengths[first]!;
      }
    }
  }

  clear(): void {
    this.#chunks = [];
    this.#used = CHUNK_BYTES;
  }

  chunkOf(address: RecordAddress): Uint8Array {
    return this.#chunks[Math.floor(address / CHUNK_BYTES)]!;
  }

  /** The records up to now. */
  view(): RecordView {
    return new RecordView(this.#chunks);
  }
}

/** Index of a record's first byte in its chunk. */
export const offsetOf = (address: RecordAddress): number => address % CHUNK_BYTES;

/** A selection of records, each read when it is needed. */
export class Selected<T> implements Iterable<T> {
  readonly length: number;
  /** The item at an index below `length`. */
  readonly at: (index: number) => T;

  constructor(length: number, at: (index: number) => T) {
    this.length = length;
    this.at = at;
  }

  map<R>(make: (item: T) => R): R[] {
    return Array.from(this, make);
  }

  *[Symbol.iterator](): Generator<T> {
    for (let i = 0; i < this.length; i++) yield this.at(i);
  }
}

/** Selections one after the other, as one. */
export function joined<T>(parts: readonly Selected<T>[]): Selected<T> {
  const ends: number[] = [];
  for (const { length } of parts) ends.push((ends.at(-1) ?? 0) + length);
  return new Selected(ends.at(-1) ?? 0, (index) => {
    let [low, high] = [0, ends.length - 1];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (ends[middle]! <= index) low = middle + 1;
      else high = middle;
    }
    return parts[low]!.at(index - (ends[low - 1] ?? 0));
  });
}
