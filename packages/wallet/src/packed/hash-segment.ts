/**
 * The places of some ten thousand items that follow each other, ordered by a hash of each: it takes 6 bytes an item, is
 * never changed, and can be stored as it is, so that nothing has to be hashed again.
 */

/** Places that a segment covers: its items lie from `SEGMENT_PLACES` times its number on. */
export const SEGMENT_PLACES = 32_768;
/** Hashes with the same first bits are found together. */
const BUCKET_BITS = 12;
const BUCKET_SHIFT = 32 - BUCKET_BITS;
const HASH_BYTES = 4;
const INDEX_BYTES = 2;

export class HashSegment {
  readonly #hashes: Uint32Array;
  /** Places, less that of the segment's beginning. */
  readonly #indices: Uint16Array;
  /** Where the hashes of each bucket begin. */
  readonly #starts = new Uint32Array(2 ** BUCKET_BITS + 1);
  readonly #first: number;

  private constructor(number: number, hashes: Uint32Array, indices: Uint16Array) {
    this.#first = number * SEGMENT_PLACES;
    this.#hashes = hashes;
    this.#indices = indices;
    let at = 0;
    for (let bucket = 0; bucket < this.#starts.length; bucket++) {
      while (at < hashes.length && hashes[at]! >>> BUCKET_SHIFT < bucket) at += 1;
      this.#starts[bucket] = at;
    }
  }

  /** `items`: hash and place of each item of the segment with this number. */
  static of(number: number, items: Iterable<readonly [hash: number, place: number]>): HashSegment {
    const sorted = new Float64Array(SEGMENT_PLACES);
    let count = 0;
    // Both fit into the 53 bits of a number, and are sorted as one.
    for (const [hash, place] of items) sorted[count++] = hash * SEGMENT_PLACES + (place % SEGMENT_PLACES);
    const used = sorted.subarray(0, count).sort();
    const hashes = new Uint32Array(count);
    const indices = new Uint16Array(count);
    for (let i = 0; i < count; i++) {
      hashes[i] = Math.floor(used[i]! / SEGMENT_PLACES);
      indices[i] = used[i]! % SEGMENT_PLACES;
    }
    return new HashSegment(number, hashes, indices);
  }

  /** Reads what `bytes` has written. Throws `RangeError`. */
  static read(number: number, bytes: Uint8Array): HashSegment {
    const count = bytes.length / (HASH_BYTES + INDEX_BYTES);
    if (!Number.isInteger(count) || count > SEGMENT_PLACES)
      throw new RangeError(`an index of ${bytes.length} bytes`);
    const hashes = new Uint32Array(count);
    const indices = new Uint16Array(count);
    new Uint8Array(hashes.buffer).set(bytes.subarray(0, HASH_BYTES * count));
    new Uint8Array(indices.buffer).set(bytes.subarray(HASH_BYTES * count));
    for (let i = 1; i < count; i++)
      if (hashes[i]! < hashes[i - 1]!) throw new RangeError("an index that is not in order");
    return new HashSegment(number, hashes, indices);
  }

  /** A copy, in the order of bytes of this program's processors. */
  get bytes(): Uint8Array {
    const [hashes, indices] = [this.#hashes, this.#indices];
    const bytes = new Uint8Array(hashes.byteLength + indices.byteLength);
    bytes.set(new Uint8Array(hashes.buffer));
    bytes.set(new Uint8Array(indices.buffer), hashes.byteLength);
    return bytes;
  }

  /** Places of the items with a hash, the last first. */
  *places(hash: number): Generator<number> {
    const from = this.#starts[hash >>> BUCKET_SHIFT]!;
    for (let at = this.#end(hash) - 1; at >= from && this.#hashes[at] === hash; at--)
      yield this.#first + this.#indices[at]!;
  }

  /** Whether an item may have the hash. */
  has(hash: number): boolean {
    const end = this.#end(hash);
    return end > 0 && this.#hashes[end - 1] === hash;
  }

  /** Sets a bit in the mask of each of its hashes, whose first bits are the mask's index: `shift` bits are left out. */
  mark(masks: Uint32Array, shift: number, bit: number): void {
    const hashes = this.#hashes;
    for (let at = 0; at < hashes.length; at++) masks[hashes[at]! >>> shift]! |= bit;
  }

  /** Hash and place of every item. */
  *items(): Generator<readonly [hash: number, place: number]> {
    for (const [at, hash] of this.#hashes.entries()) yield [hash, this.#first + this.#indices[at]!];
  }

  /** Where the hashes above one begin. */
  #end(hash: number): number {
    const bucket = hash >>> BUCKET_SHIFT;
    let [low, high] = [this.#starts[bucket]!, this.#starts[bucket + 1]!];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.#hashes[middle]! <= hash) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
