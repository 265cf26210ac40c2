/**
 * Finds items of a list by a key. The index holds hashes and places: it compares the keys of the items themselves, which
 * may have to be read from a store, only where the hashes are the same. Items with the same key are chained, from the
 * newest to the oldest.
 */
import { Column, NO_NUMBERS } from "./column.ts";

/** How the index reads the keys of the list's items. */
export type PlaceKeys = {
  /** A hash (32 bits) of the key of the item at a place. */
  readonly hashOf: (place: number) => number;
  readonly isSame: (place: number, other: number) => boolean;
};

/** No item. */
export const NOWHERE = -1;

const FIRST_SLOTS = 8;
/** From this many keys on there are as many tables, which grow one after the other: growing all at once takes long. */
const MANY_KEYS = 8192;
const TABLES = 64;
const TABLE_SHIFT = 26;
/** Items that are added between two pauses. */
const STEP = 1024;

/** Two words a slot: a hash, and the place of the newest item with its key, plus 1, or 0 while the slot is free. */
type Table = { slots: Uint32Array; keys: number };

const emptyTable = (): Table => ({ slots: NO_NUMBERS, keys: 0 });

export class PlaceIndex {
  readonly #keys: PlaceKeys;
  #tables: Table[] = [emptyTable()];
  /** By place: the place, plus 1, of the item with the same key before it. */
  readonly #before = new Column();

  constructor(keys: PlaceKeys) {
    this.#keys = keys;
  }

  /** Adds an item, which is the newest with its key. */
  add(place: number): void {
    const hash = this.#keys.hashOf(place);
    const table = this.#tableFor(hash);
    if (8 * (table.keys + 1) > 3 * table.slots.length) grow(table);
    this.#addTo(table, hash, place);
    if (this.#tables.length === 1 && table.keys === MANY_KEYS) this.#divide();
  }

  /** Adds an item where there is room. */
  #addTo(table: Table, hash: number, place: number): void {
    const { slots } = table;
    const slot = slotOf(slots, hash, (other) => this.#keys.isSame(other, place));
    const value = slots[slot + 1]!;
    if (value === 0) table.keys += 1;
    this.#before.set(place, value);
    slots[slot] = hash;
    slots[slot + 1] = place + 1;
  }

  /** Adds the items below a number that are wanted, in their order, to an empty index; pauses in between. */
  *addAll(count: number, isWanted: (place: number) => boolean = isAny): Generator<void> {
    const hashes = new Uint32Array(count);
    const isDivided = count >= MANY_KEYS;
    const sizes = new Uint32Array(isDivided ? TABLES : 1);
    for (let place = 0; place < count; place++) {
      if (place % STEP === 0) yield;
      if (!isWanted(place)) continue;
      const hash = this.#keys.hashOf(place);
      hashes[place] = hash;
      sizes[isDivided ? hash >>> TABLE_SHIFT : 0]! += 1;
    }
    this.#tables = Array.from(sizes, (size) => ({ slots: new Uint32Array(2 * slotsFor(size)), keys: 0 }));
    this.#before.reserve(count);
    for (let place = 0; place < count; place++) {
      if (place % STEP === 0) yield;
      if (isWanted(place)) this.#addTo(this.#tableFor(hashes[place]!), hashes[place]!, place);
    }
  }

  /** Removes an item that is the newest with its key. */
  remove(place: number): void {
    const hash = this.#keys.hashOf(place);
    const table = this.#tableFor(hash);
    if (table.slots.length === 0) return;
    const slot = slotOf(table.slots, hash, (other) => other === place);
    if (table.slots[slot + 1] === 0) return;
    const value = this.#before.at(place);
    if (value !== 0) table.slots[slot + 1] = value;
    else free(table, slot);
  }

  /** The newest item with a key that has this hash; `NOWHERE` if there is none. */
  newest(hash: number, isWanted: (place: number) => boolean): number {
    const table = this.#tableFor(hash);
    if (table.slots.length === 0) return NOWHERE;
    return table.slots[slotOf(table.slots, hash, isWanted) + 1]! - 1;
  }

  /** The item with the same key that was added before this one; `NOWHERE` if it is the oldest. */
  before(place: number): number {
    return this.#before.at(place) - 1;
  }

  clear(): void {
    this.#tables = [emptyTable()];
    this.#before.removeFrom(0);
  }

  #tableFor(hash: number): Table {
    return this.#tables.length === 1 ? this.#tables[0]! : this.#tables[hash >>> TABLE_SHIFT]!;
  }

  #divide(): void {
    const [{ slots }] = this.#tables as [Table];
    this.#tables = Array.from({ length: TABLES }, emptyTable);
    for (let at = 0; at < slots.length; at += 2) {
      if (slots[at + 1] === 0) continue;
      const table = this.#tableFor(slots[at]!);
      if (8 * (table.keys + 1) > 3 * table.slots.length) grow(table);
      put(table.slots, slots[at]!, slots[at + 1]!);
      table.keys += 1;
    }
  }
}

/** The slot of the wanted item, by its first word; else the free slot where it belongs. */
function slotOf(slots: Uint32Array, hash: number, isWanted: (place: number) => boolean): number {
  const mask = slots.length - 1;
  for (let slot = (2 * hash) & mask; ; slot = (slot + 2) & mask) {
    const value = slots[slot + 1]!;
    if (value === 0 || (slots[slot] === hash && isWanted(value - 1))) return slot;
  }
}

/** Puts an entry into the first free slot from where it belongs. */
function put(slots: Uint32Array, hash: number, value: number): void {
  const slot = slotOf(slots, hash, isNone);
  slots[slot] = hash;
  slots[slot + 1] = value;
}

function grow(table: Table): void {
  const { slots } = table;
  table.slots = new Uint32Array(Math.max(2 * FIRST_SLOTS, 2 * slots.length));
  for (let at = 0; at < slots.length; at += 2)
    if (slots[at + 1] !== 0) put(table.slots, slots[at]!, slots[at + 1]!);
}

/** Frees a slot, and moves those after it that would not be found any more. Source: Knuth, TAOCP 6.4, algorithm R. */
function free(table: Table, freed: number): void {
  const { slots } = table;
  const mask = slots.length - 1;
  let hole = freed;
  for (let slot = (freed + 2) & mask; slots[slot + 1] !== 0; slot = (slot + 2) & mask) {
    const home = (2 * slots[slot]!) & mask;
    if (((slot - home) & mask) < ((slot - hole) & mask)) continue;
    slots[hole] = slots[slot]!;
    slots[hole + 1] = slots[slot + 1]!;
    hole = slot;
  }
  slots[hole + 1] = 0;
  table.keys -= 1;
}

const isNone = () => false;
const isAny = () => true;

/** Slots for so many keys, of which at least a quarter stay free. */
function slotsFor(keys: number): number {
  if (keys === 0) return 0;
  let slots = FIRST_SLOTS;
  while (4 * keys > 3 * slots) slots *= 2;
  return slots;
}

/** Hashes keys with a random seed: who chooses the keys can't choose which of them collide. */
export class KeyHash {
  readonly #seed: Uint32Array = crypto.getRandomValues(new Uint32Array(2));

  /** What decides the hashes. */
  get seed(): Uint8Array {
    return new Uint8Array(this.#seed.buffer.slice(0));
  }

  /** Takes over the seed of former hashes, before any is made. Throws `RangeError`. */
  useSeed(seed: Uint8Array): void {
    if (seed.length !== this.#seed.byteLength) throw new RangeError("not the seed of hashes");
    new Uint8Array(this.#seed.buffer).set(seed);
  }

  /** The hash of eight bytes. */
  ofBytes(bytes: Uint8Array, at: number): number {
    const low = bytes[at]! | (bytes[at + 1]! << 8) | (bytes[at + 2]! << 16) | (bytes[at + 3]! << 24);
    const high = bytes[at + 4]! | (bytes[at + 5]! << 8) | (bytes[at + 6]! << 16) | (bytes[at + 7]! << 24);
    return this.ofNumbers(low, high);
  }

  /** The hash of two numbers of 32 bits. Source of the steps: MurmurHash3, `fmix32`. */
  ofNumbers(low: number, high: number): number {
    let hash = mix(low ^ this.#seed[0]!);
    hash = mix((hash ^ high) + this.#seed[1]!);
    return hash >>> 0;
  }
}

function mix(value: number): number {
  let hash = value ^ (value >>> 16);
  hash = Math.imul(hash, 0x85ebca6b);
  hash ^= hash >>> 13;
  hash = Math.imul(hash, 0xc2b2ae35);
  return hash ^ (hash >>> 16);
}
