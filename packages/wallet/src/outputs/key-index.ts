/**
 * Finds places by keys of 32 bytes that are stored elsewhere, and read only where a hash is the same. Those added
 * lately are in a hash table, 9 to 18 bytes a key, whose 64 parts grow one by one, so that no step takes long; the
 * others in segments, 6 bytes a key, which a store keeps.
 */

import { HashSegment, SEGMENT_PLACES } from "../packed/hash-segment.ts";
import { LazyMap } from "../packed/lazy-map.ts";
import { SegmentMarks } from "../packed/segment-marks.ts";

/** The first 6 bits of a hash choose one of 64 parts. */
const PART_SHIFT = 26;
const LEAST_SLOTS = 16;
/** Words of a key that are hashed: a sender who wants two keys with the same ones has to try 2^64 of them. */
const HASHED_WORDS = 4;

/** A key within a larger array. */
export type KeyAt = { readonly bytes: Uint8Array; readonly at: number };

/**
 * Open addressing with linear probing, two words a slot: a hash, and a place + 1, or 0 while it is free; an eighth of
 * the slots stays free. Keys that are the same have a slot each.
 */
type Part = { slots: Uint32Array; used: number };

export class KeyIndex {
  readonly #keyAt: (place: number) => KeyAt;
  /** Random, so that senders cannot choose keys that collide. */
  readonly #factors = new Uint32Array(HASHED_WORDS + 1);
  #parts: Part[] = [];
  /** By number. */
  readonly #segments = new LazyMap<number, HashSegment>();
  /** The same, to be walked by every search. */
  #list: readonly HashSegment[] = [];
  /** Which of them may have a hash. */
  #marks: SegmentMarks | undefined;

  /** `keyAt` returns the key of an indexed place. `random` fills an array with random numbers. */
  constructor(keyAt: (place: number) => KeyAt, random: (factors: Uint32Array) => void) {
    this.#keyAt = keyAt;
    random(this.#factors);
    for (let i = 0; i < HASHED_WORDS; i++) this.#factors[i]! |= 1;
  }

  /** What decides the hashes: an index with other factors can't read this one's segments. */
  get factors(): Uint8Array {
    return new Uint8Array(this.#factors.buffer.slice(0));
  }

  /** Takes over the factors of a former index, before anything is added. Throws `RangeError`. */
  useFactors(factors: Uint8Array): void {
    if (factors.length !== this.#factors.byteLength) throw new RangeError("not the factors of an index");
    new Uint8Array(this.#factors.buffer).set(factors);
  }

  /** The last place with a key, 32 bytes from `at` on. */
  find(bytes: Uint8Array, at = 0): number | undefined {
    const hash = this.#hash(bytes, at);
    let last = this.#findInTable(hash, { bytes, at });
    for (const segment of this.markSegments().withHash(hash)) {
      for (const place of segment.places(hash))
        if (place > last && this.#isAt(place, bytes, at)) last = place;
    }
    return last === -1 ? undefined : last;
  }

  /** Makes what tells which segments may have a key, unless it is there: some milliseconds for a million keys. */
  markSegments(): SegmentMarks {
    this.#marks ??= new SegmentMarks(this.#list);
    return this.#marks;
  }

  /** -1 if the table does not have it. */
  #findInTable(hash: number, { bytes, at }: KeyAt): number {
    const slots = this.#parts[hash >>> PART_SHIFT]?.slots;
    if (slots === undefined) return -1;
    const mask = slots.length / 2 - 1;
    let last = -1;
    for (let slot = hash & mask; slots[2 * slot + 1] !== 0; slot = (slot + 1) & mask) {
      const place = slots[2 * slot + 1]! - 1;
      if (slots[2 * slot] === hash && place > last && this.#isAt(place, bytes, at)) last = place;
    }
    return last;
  }

  #isAt(place: number, bytes: Uint8Array, at: number): boolean {
    const key = this.#keyAt(place);
    for (let i = 0; i < 32; i++) if (key.bytes[key.at + i] !== bytes[at + i]) return false;
    return true;
  }

  /** Adds a place by its key. */
  add(place: number): void {
    this.#moveToTable(Math.floor(place / SEGMENT_PLACES));
    const { bytes, at } = this.#keyAt(place);
    this.#insert(this.#hash(bytes, at), place);
  }

  /** Removes a place. Its key must still be there. */
  remove(place: number): void {
    this.#moveToTable(Math.floor(place / SEGMENT_PLACES));
    const { bytes, at } = this.#keyAt(place);
    this.#drop(this.#hash(bytes, at), place);
  }

  /** Removes the places from one on. */
  truncate(count: number): void {
    for (const number of [...this.#segments.keys()]) {
      if (number * SEGMENT_PLACES >= count) this.#setSegment(number, undefined);
      else if ((number + 1) * SEGMENT_PLACES > count) this.#moveToTable(number);
    }
    for (const [hash, place] of this.#itemsIn(count, Number.POSITIVE_INFINITY)) this.#drop(hash, place);
  }

  /** Whether the places of a segment are in one. */
  hasSegment(number: number): boolean {
    return this.#segments.has(number);
  }

  /** Numbers of all segments. */
  get segments(): IterableIterator<number> {
    return this.#segments.keys();
  }

  /** Adds the places that a stored segment covers. Throws `RangeError`. */
  addSegment(number: number, bytes: Uint8Array): void {
    this.#setSegment(number, HashSegment.read(number, bytes));
  }

  /** Makes a segment of the places that it covers, all of which were added; returns it, to be stored. */
  makeSegment(number: number): Uint8Array {
    const items = this.#itemsIn(number * SEGMENT_PLACES, (number + 1) * SEGMENT_PLACES);
    const segment = HashSegment.of(number, items);
    for (const [hash, place] of items) this.#drop(hash, place);
    this.#setSegment(number, segment);
    return segment.bytes;
  }

  /** Moves the places of a segment, if there is one, to the table: they may change. */
  #moveToTable(number: number): void {
    const segment = this.#segments.get(number);
    if (segment === undefined) return;
    for (const [hash, place] of segment.items()) this.#insert(hash, place);
    this.#setSegment(number, undefined);
  }

  #setSegment(number: number, segment: HashSegment | undefined): void {
    if (segment === undefined) this.#segments.delete(number);
    else this.#segments.set(number, segment);
    this.#list = [...this.#segments.values()];
    this.#marks = undefined;
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

  /** Hash and place of what the table has, from one place to before another. */
  #itemsIn(from: number, to: number): (readonly [hash: number, place: number])[] {
    const items: (readonly [number, number])[] = [];
    for (const part of this.#parts) {
      const slots = part?.slots ?? [];
      for (let at = 0; at < slots.length; at += 2) {
        const place = slots[at + 1]! - 1;
        if (place >= from && place < to) items.push([slots[at]!, place]);
      }
    }
    return items;
  }

  #insert(hash: number, place: number): void {
    const at = hash >>> PART_SHIFT;
    const part = this.#parts[at] ?? { slots: new Uint32Array(2 * LEAST_SLOTS), used: 0 };
    this.#parts[at] = part;
    if (16 * (part.used + 1) > 7 * part.slots.length) grow(part);
    part.used += 1;
    put(part.slots, hash, place + 1);
  }

  /** Does nothing if the place is not there. */
  #drop(hash: number, place: number): void {
    const part = this.#parts[hash >>> PART_SHIFT];
    if (part === undefined) return;
    const mask = part.slots.length / 2 - 1;
    let slot = hash & mask;
    for (; part.slots[2 * slot + 1] !== place + 1; slot = (slot + 1) & mask)
      if (part.slots[2 * slot + 1] === 0) return;
    part.used -= 1;
    close(part.slots, slot);
  }
}

function put(slots: Uint32Array, hash: number, entry: number): void {
  const mask = slots.length / 2 - 1;
  let slot = hash & mask;
  while (slots[2 * slot + 1] !== 0) slot = (slot + 1) & mask;
  slots[2 * slot] = hash;
  slots[2 * slot + 1] = entry;
}

function grow(part: Part): void {
  const former = part.slots;
  part.slots = new Uint32Array(2 * former.length);
  for (let at = 0; at < former.length; at += 2)
    if (former[at + 1] !== 0) put(part.slots, former[at]!, former[at + 1]!);
}

/** Frees a slot, and moves up the entries behind it that would not be last past a free slot. */
function close(slots: Uint32Array, slot: number): void {
  const mask = slots.length / 2 - 1;
  let free = slot;
  for (let next = (slot + 1) & mask; slots[2 * next + 1] !== 0; next = (next + 1) & mask) {
    const home = slots[2 * next]! & mask;
    if (((next - home) & mask) < ((next - free) & mask)) continue;
    slots[2 * free] = slots[2 * next]!;
    slots[2 * free + 1] = slots[2 * next + 1]!;
    free = next;
  }
  slots[2 * free + 1] = 0;
}
