/**
 * Finds items of a list by a key. The index holds places only: it compares the keys of the items themselves. Items with
 * the same key are chained, from the newest to the oldest.
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
    if (4 * (table.keys + 1) > 3 * table.slots.length) this.#resize(table);
    const slot = this.#slotOf(table, hash, (other) => this.#keys.isSame(other, place));
    const value = table.slots[slot]!;
    if (value === 0) table.keys += 1;
    this.#before.set(place, value);
    table.slots[slot] = place + 1;
    if (this.#tables.length === 1 && table.keys === MANY_KEYS) this.#divide();
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
    this.#tables = Array.from(sizes, (size) => ({ slots: new Uint32Array(slotsFor(size)), keys: 0 }));
    this.#before.reserve(count);
    for (let place = 0; place < count; place++) {
      if (place % STEP === 0) yield;
      if (isWanted(place)) this.#addHashed(place, hashes);
    }
  }

  /** Adds an item where there is room, by the hashes of all. */
  #addHashed(place: number, hashes: Uint32Array): void {
    const hash = hashes[place]!;
    const table = this.#tableFor(hash);
    const isSame = (other: number) => hashes[other] === hash && this.#keys.isSame(other, place);
    const slot = this.#slotOf(table, hash, isSame);
    const value = table.slots[slot]!;
    if (value === 0) table.keys += 1;
    this.#before.set(place, value);
    table.slots[slot] = place + 1;
  }

  /** Removes an item that is the newest with its key. */
  remove(place: number): void {
    const hash = this.#keys.hashOf(place);
    const table = this.#tableFor(hash);
    if (table.slots.length === 0) return;
    const slot = this.#slotOf(table, hash, (other) => other === place);
    if (table.slots[slot] === 0) return;
    const value = this.#before.at(place);
    if (value !== 0) table.slots[slot] = value;
    else this.#free(table, slot);
  }

  /** The newest item with a key that has this hash; `NOWHERE` if there is none. */
  newest(hash: number, isWanted: (place: number) => boolean): number {
    const table = this.#tableFor(hash);
    if (table.slots.length === 0) return NOWHERE;
    return table.slots[this.#slotOf(table, hash, isWanted)]! - 1;
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

  /** The slot of the wanted item, else the free slot where it belongs. */
  #slotOf({ slots }: Table, hash: number, isWanted: (place: number) => boolean): number {
    const mask = slots.length - 1;
    for (let slot = hash & mask; ; slot = (slot + 1) & mask) {
      const value = slots[slot]!;
      if (value === 0 || isWanted(value - 1)) return slot;
    }
  }

  #resize(table: Table): void {
    const { slots } = table;
    table.slots = new Uint32Array(Math.max(FIRST_SLOTS, 2 * slots.length));
    for (const value of slots)
      if (value !== 0) table.slots[this.#slotOf(table, this.#keys.hashOf(value - 1), isNone)] = value;
  }

  #divide(): void {
    const [{ slots }] = this.#tables as [Table];
    this.#tables = Array.from({ length: TABLES }, emptyTable);
    for (const value of slots) {
      if (value === 0) continue;
      const hash = this.#keys.hashOf(value - 1);
      const table = this.#tableFor(hash);
      if (4 * (table.keys + 1) > 3 * table.slots.length) this.#resize(table);
      table.slots[this.#slotOf(table, hash, isNone)] = value;
      table.keys += 1;
    }
  }

  /** Frees a slot, and moves those after it that would not be found any more. Source: Knuth, TAOCP 6.4, algorithm R. */
  #free(table: Table, freed: number): void {
    const { slots } = table;
    const mask = slots.length - 1;
    let hole = freed;
    for (let slot = (freed + 1) & mask; slots[slot] !== 0; slot = (slot + 1) & mask) {
      const home = this.#keys.hashOf(slots[slot]! - 1) & mask;
      if (((slot - home) & mask) < ((slot - hole) & mask)) continue;
      slots[hole] = slots[slot]!;
      hole = slot;
    }
    slots[hole] = 0;
    table.keys -= 1;
  }
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
