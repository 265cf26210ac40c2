/** Concatenated lists of keys and numbers, for batches of the kernels and for other threads. */

const KEY_BYTES = 32;
const BEGIN_COUNT = 256;

/** Keys of 32 bytes each, in a buffer that grows. */
export class KeyList {
  #bytes = new Uint8Array(KEY_BYTES * BEGIN_COUNT);
  #length = 0;

  /** Number of keys. */
  get count(): number {
    return this.#length / KEY_BYTES;
  }

  /** A copy. */
  get packed(): Uint8Array {
    return this.#bytes.slice(0, this.#length);
  }

  /** Appends a copy of the key at an offset. */
  push(source: Uint8Array, at: number): void {
    if (this.#length === this.#bytes.length) {
      const longer = new Uint8Array(2 * this.#bytes.length);
      longer.set(this.#bytes);
      this.#bytes = longer;
    }
    copyKey(this.#bytes, this.#length, { source, at });
    this.#length += KEY_BYTES;
  }
}

/** Whole numbers below 2^32, in a buffer that grows. */
export class NumberList {
  #numbers = new Uint32Array(BEGIN_COUNT);
  #count = 0;

  push(value: number): void {
    if (this.#count === this.#numbers.length) {
      const longer = new Uint32Array(2 * this.#count);
      longer.set(this.#numbers);
      this.#numbers = longer;
    }
    this.#numbers[this.#count++] = value;
  }

  /** A copy. */
  get packed(): Uint32Array {
    return this.#numbers.slice(0, this.#count);
  }
}

/** Copies of the keys at these indices. */
export function pickKeys(keys: Uint8Array, places: Uint32Array): Uint8Array {
  const picked = new Uint8Array(KEY_BYTES * places.length);
  for (let i = 0; i < places.length; i++)
    copyKey(picked, KEY_BYTES * i, { source: keys, at: KEY_BYTES * places[i]! });
  return picked;
}

/** The keys concatenated. */
export function packedKeys(keys: readonly Uint8Array[]): Uint8Array {
  const packed = new Uint8Array(KEY_BYTES * keys.length);
  for (let i = 0; i < keys.length; i++) packed.set(keys[i]!, KEY_BYTES * i);
  return packed;
}

/** Copies byte by byte, which is faster than a library call for 32 bytes. */
function copyKey(
  target: Uint8Array,
  to: number,
  { source, at }: { readonly source: Uint8Array; readonly at: number },
): void {
  for (let i = 0; i < KEY_BYTES; i++) target[to + i] = source[at + i]!;
}

/** For each run of a list, the index at which it begins. */
export function startsOf(counts: Uint32Array): Uint32Array {
  let next = 0;
  return counts.map((count) => {
    next += count;
    return next - count;
  });
}
