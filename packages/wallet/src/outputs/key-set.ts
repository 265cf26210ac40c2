/**
 * A set of keys of 32 bytes that takes 12 to 24 bytes a key: it holds 64 bits of each, hashed with random factors. It
 * may take another key for one of its own, once in 2^64 times the number of its keys, so whoever asks must bear that.
 */

const LEAST_SLOTS = 16;
const KEY_BYTES = 32;
const WORDS = 8;

/** Makes two hashes of 32 bits of a key. */
export class KeyHashes {
  /** Of both hashes: a factor for each word of a key, and what the hash begins with. */
  readonly #factors = new Uint32Array(2 * (WORDS + 1));

  /** `random` fills an array with random numbers, so that senders cannot choose keys that collide. */
  constructor(random: (factors: Uint32Array) => void) {
    random(this.#factors);
    for (const [i, factor] of this.#factors.entries()) this.#factors[i] = factor | 1;
  }

  /** What decides the hashes: a copy. */
  get factors(): Uint8Array {
    return new Uint8Array(this.#factors.buffer.slice(0));
  }

  /** The hashes of former factors. Throws `RangeError`. */
  static of(factors: Uint8Array): KeyHashes {
    const hashes = new KeyHashes(() => undefined);
    if (factors.length !== hashes.#factors.byteLength) throw new RangeError("not the factors of hashes");
    new Uint8Array(hashes.#factors.buffer).set(factors);
    return hashes;
  }

  /** Multiplies and folds, word by word; never 0 for the second hash, which is that of a free slot. */
  hash(keys: Uint8Array, at: number, which: 0 | 1): number {
    const factors = this.#factors;
    const first = which * (WORDS + 1);
    let hash = factors[first + WORDS]!;
    for (let i = 0; i < WORDS; i++) {
      const from = at + 4 * i;
      const word = keys[from]! | (keys[from + 1]! << 8) | (keys[from + 2]! << 16) | (keys[from + 3]! << 24);
      hash = Math.imul(hash ^ word, factors[first + i]!);
      hash ^= hash >>> 15;
    }
    return which === 1 && hash === 0 ? 1 : hash >>> 0;
  }

  /** Both hashes of each of some keys, one after the other. */
  all(keys: Uint8Array): Uint32Array {
    const hashes = new Uint32Array((2 * keys.length) / KEY_BYTES);
    for (let at = 0, i = 0; at < keys.length; at += KEY_BYTES) {
      hashes[i++] = this.hash(keys, at, 0);
      hashes[i++] = this.hash(keys, at, 1);
    }
    return hashes;
  }
}

export class KeySet {
  readonly #hashes: KeyHashes;
  /** Open addressing with linear probing: two words a slot, both 0 while it is free. */
  #slots = new Uint32Array(2 * LEAST_SLOTS);
  #size = 0;

  constructor(hashes: KeyHashes) {
    this.#hashes = hashes;
  }

  /** Number of keys. */
  get size(): number {
    return this.#size;
  }

  /** Adds keys, one after the other. */
  add(keys: Uint8Array): void {
    for (let at = 0; at < keys.length; at += KEY_BYTES)
      this.#add(this.#hashes.hash(keys, at, 0), this.#hashes.hash(keys, at, 1));
  }

  /** Adds keys of which only the hashes are known, one after the other. */
  addHashes(hashes: Uint32Array): void {
    for (let i = 0; i + 1 < hashes.length; i += 2) this.#add(hashes[i]!, hashes[i + 1]!);
  }

  #add(first: number, second: number): void {
    if (3 * this.#size >= this.#slots.length) this.#grow();
    const slot = this.#slotOf(first, second);
    if (this.#slots[slot + 1] !== 0) return;
    this.#slots[slot] = first;
    this.#slots[slot + 1] = second;
    this.#size += 1;
  }

  /** Whether it has the key, 32 bytes from `at` on. */
  has(keys: Uint8Array, at = 0): boolean {
    if (this.#size === 0) return false;
    const slot = this.#slotOf(this.#hashes.hash(keys, at, 0), this.#hashes.hash(keys, at, 1));
    return this.#slots[slot + 1] !== 0;
  }

  /** Index of the slot that has the hashes, or of the free one where they belong. */
  #slotOf(first: number, second: number): number {
    const mask = this.#slots.length / 2 - 1;
    let slot = first & mask;
    for (; this.#slots[2 * slot + 1] !== 0; slot = (slot + 1) & mask)
      if (this.#slots[2 * slot] === first && this.#slots[2 * slot + 1] === second) break;
    return 2 * slot;
  }

  #grow(): void {
    const former = this.#slots;
    this.#slots = new Uint32Array(2 * former.length);
    for (let at = 0; at < former.length; at += 2) {
      if (former[at + 1] === 0) continue;
      const slot = this.#slotOf(former[at]!, former[at + 1]!);
      this.#slots[slot] = former[at]!;
      this.#slots[slot + 1] = former[at + 1]!;
    }
  }
}
