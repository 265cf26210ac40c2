/**
 * Finds places by keys of 32 bytes that are stored elsewhere. It needs 8 to 16 bytes a key, and no step takes long:
 * its 64 parts grow one by one.
 */

/** The first 6 bits of a hash choose one of 64 parts. */
const PART_SHIFT = 26;
const PARTS = 64;
const LEAST_SLOTS = 16;
/** Places that are added between two pauses. */
const STEP = 1024;
/** Words of a key that are hashed: a sender who wants two keys with the same ones has to try 2^64 of them. */
const HASHED_WORDS = 4;

/** A key within a larger array. */
export type KeyAt = { readonly bytes: Uint8Array; readonly at: number };

/** Open addressing with linear probing; a slot has a place + 1, or 0 while it is free. */
type Part = { slots: Uint32Array; used: number };

export class KeyIndex {
  readonly #keyAt: (place: number) => KeyAt;
  /** Random, so that senders cannot choose keys that collide. */
  readonly #factors: Uint32Array;
  #parts: Part[] = [];

  /** `keyAt` returns the key of an indexed place. `random` fills an array with random numbers. */
  constructor(keyAt: (place: number) => KeyAt, random: (factors: Uint32Array) => void) {
    this.#keyAt = keyAt;
    this.#factors = new Uint32Array(HASHED_WORDS + 1);
    random(this.#factors);
    for (let i = 0; i < HASHED_WORDS; i++) this.#factors[i]! |= 1;
  }

  /** The place of a key, 32 bytes from `at` on. */
  find(bytes: Uint8Array, at = 0): number | undefined {
    const hash = this.#hash(bytes, at);
    const part = this.#parts[hash >>> PART_SHIFT];
    if (part === undefined) return undefined;
    const slot = part.slots[this.#slotOf(part, hash, { bytes, at })]!;
    return slot === 0 ? undefined : slot - 1;
  }

  /** Adds a place by its key; returns the place that had the same key before, and is no longer found by it. */
  add(place: number): number | undefined {
    const key = this.#keyAt(place);
    const hash = this.#hash(key.bytes, key.at);
    const part = this.#partFor(hash);
    const slot = this.#slotOf(part, hash, key);
    const before = part.slots[slot]!;
    part.slots[slot] = place + 1;
    if (before !== 0) return before - 1;
    part.used += 1;
    return undefined;
  }

  /**
   * Adds the places below a number that are wanted, to an empty index; pauses in between. Returns whether two of them have
   * the same key: the last is found.
   */
  *addAll(count: number, isWanted: (place: number) => boolean): Generator<void, boolean> {
    const hashes = new Uint32Array(count);
    const sizes = new Uint32Array(PARTS);
    for (let place = 0; place < count; place++) {
      if (place % STEP === 0) yield;
      if (!isWanted(place)) continue;
      const { bytes, at } = this.#keyAt(place);
      hashes[place] = this.#hash(bytes, at);
      sizes[hashes[place]! >>> PART_SHIFT]! += 1;
    }
    this.#parts = Array.from(sizes, (size) => ({ slots: new Uint32Array(slotsFor(size)), used: 0 }));
    let hasSame = false;
    for (let place = 0; place < count; place++) {
      if (place % STEP === 0) yield;
      if (isWanted(place)) hasSame = this.#addHashed(place, hashes) || hasSame;
    }
    return hasSame;
  }

  /** Adds a place where there is room, by the hashes of all; returns whether another had the same key. */
  #addHashed(place: number, hashes: Uint32Array): boolean {
    const hash = hashes[place]!;
    const part = this.#parts[hash >>> PART_SHIFT]!;
    const { slots } = part;
    const mask = slots.length - 1;
    let slot = hash & mask;
    for (; slots[slot] !== 0; slot = (slot + 1) & mask) {
      const other = slots[slot]! - 1;
      if (hashes[other] === hash && isSame(this.#keyAt(other), this.#keyAt(place))) break;
    }
    const isOther = slots[slot] !== 0;
    slots[slot] = place + 1;
    if (!isOther) part.used += 1;
    return isOther;
  }

  /** Removes a place, unless another one has taken over its key. Its key must still be there. */
  remove(place: number): void {
    const key = this.#keyAt(place);
    const hash = this.#hash(key.bytes, key.at);
    const part = this.#parts[hash >>> PART_SHIFT];
    if (part === undefined) return;
    const slot = this.#slotOf(part, hash, key);
    if (part.slots[slot] !== place + 1) return;
    part.used -= 1;
    this.#close(part, slot);
  }

  clear(): void {
    this.#parts = [];
  }

  /** Multiplies and folds, word by word, with factors that nobody else knows. */
  #hash(bytes: Uint8Array, at: number): number {
    const factors = this.#factors;
    let hash = factors[HASHED_WORDS]!;
    for (let i = 0; i < HASHED_WORDS; i++) {
      const from = at + 4 * i;
      const word =
        bytes[from]! | (bytes[from + 1]! << 8) | (bytes[from + 2]! << 16) | (bytes[from + 3]! << 24);
      hash = Math.imul(hash ^ word, factors[i]!);
      hash ^= hash >>> 15;
    }
    return hash >>> 0;
  }

  /** The slot that has the key, or the free one where it belongs. */
  #slotOf({ slots }: Part, hash: number, key: KeyAt): number {
    const mask = slots.length - 1;
    let slot = hash & mask;
    for (; slots[slot] !== 0; slot = (slot + 1) & mask) if (isSame(this.#keyAt(slots[slot]! - 1), key)) break;
    return slot;
  }

  /** The part for a hash, with room for one more. */
  #partFor(hash: number): Part {
    const at = hash >>> PART_SHIFT;
    const part = this.#parts[at] ?? { slots: new Uint32Array(LEAST_SLOTS), used: 0 };
    this.#parts[at] = part;
    if (4 * (part.used + 1) > 3 * part.slots.length) this.#grow(part);
    return part;
  }

  #grow(part: Part): void {
    const former = part.slots;
    part.slots = new Uint32Array(2 * former.length);
    const mask = part.slots.length - 1;
    for (const entry of former) {
      if (entry === 0) continue;
      const { bytes, at } = this.#keyAt(entry - 1);
      let slot = this.#hash(bytes, at) & mask;
      while (part.slots[slot] !== 0) slot = (slot + 1) & mask;
      part.slots[slot] = entry;
    }
  }

  /** Frees a slot, and moves up the entries behind it that would not be found past a free slot. */
  #close({ slots }: Part, slot: number): void {
    const mask = slots.length - 1;
    let free = slot;
    for (let next = (slot + 1) & mask; slots[next] !== 0; next = (next + 1) & mask) {
      const { bytes, at } = this.#keyAt(slots[next]! - 1);
      const home = this.#hash(bytes, at) & mask;
      if (((next - home) & mask) < ((next - free) & mask)) continue;
      slots[free] = slots[next]!;
      free = next;
    }
    slots[free] = 0;
  }
}

/** Slots for some keys, of which at least a quarter stay free. */
function slotsFor(keys: number): number {
  let slots = LEAST_SLOTS;
  while (4 * keys > 3 * slots) slots *= 2;
  return slots;
}

function isSame(a: KeyAt, b: KeyAt): boolean {
  for (let i = 0; i < 32; i++) if (a.bytes[a.at + i] !== b.bytes[b.at + i]) return false;
  return true;
}
