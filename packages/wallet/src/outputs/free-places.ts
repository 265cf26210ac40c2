/**
 * The outputs that nothing spends and that are not frozen, by account and by address: kept up with every change, so that
 * a payment looks at those it may take, however many others there are.
 */
import {
  type FreeFilter,
  hasSummary,
  matching,
  type SomePlaces,
  type Summary,
  summarize,
  summaryOf,
} from "./free-summary.ts";
import { type OutputPage, PAGE_OUTPUTS } from "./output-page.ts";
import { type ChunkPart, PlaceOrder } from "./place-order.ts";

/** Some of the places that were asked for, ascending, and what those that match have in common. */
export type FreePart = SomePlaces & { readonly summary: Summary };

/** Places between two pauses. */
const STEP = 16_384;
const DIGIT_BITS = 16;

export class FreePlaces {
  readonly #pages: readonly OutputPage[];
  readonly #byAccount: PlaceOrder;
  readonly #byAddress: PlaceOrder;

  private constructor(pages: readonly OutputPage[], byAccount: Uint32Array, byAddress: Uint32Array) {
    this.#pages = pages;
    this.#byAccount = new PlaceOrder((place) => this.#inAccount(place), byAccount);
    this.#byAddress = new PlaceOrder((place) => this.#inAddress(place), byAddress);
  }

  /** Finds those of `count` outputs in steps between which nothing may change. */
  static *of(pages: readonly OutputPage[], count: number): Generator<void, FreePlaces> {
    const [free, majors, minors] = [new Uint32Array(count), new Uint32Array(count), new Uint32Array(count)];
    let length = 0;
    for (let first = 0; first < count; first += PAGE_OUTPUTS) {
      const page = pages[first / PAGE_OUTPUTS]!;
      const { columns } = page;
      const end = Math.min(PAGE_OUTPUTS, count - first);
      for (let index = 0; index < end; index++) {
        if (!page.isFree(index)) continue;
        free[length] = first + index;
        majors[length] = columns.majors[index]!;
        minors[length++] = columns.minors[index]!;
      }
      yield;
    }
    const places = free.subarray(0, length);
    const byAccount = yield* sortedBy({ places, keys: majors.subarray(0, length) });
    const byMinor = yield* sortedBy({ places, keys: minors.subarray(0, length) });
    const isOneAccount = majors.subarray(0, length).every((major) => major === majors[0]);
    const majorOf = (place: number) =>
      pages[Math.floor(place / PAGE_OUTPUTS)]!.columns.majors[place % PAGE_OUTPUTS]!;
    const byAddress = isOneAccount
      ? byMinor
      : yield* sortedBy({ places: byMinor, keys: byMinor.map(majorOf) });
    return new FreePlaces(pages, byAccount, byAddress);
  }

  /** Adds a place whose output has become free. */
  add(place: number): void {
    this.#byAccount.add(place);
    this.#byAddress.add(place);
  }

  /** Removes a place before its output changes. */
  delete(place: number): void {
    this.#byAccount.delete(place);
    this.#byAddress.delete(place);
  }

  /** Tells that something else of the output at a place has changed. */
  touch(place: number): void {
    this.#byAccount.touch(place);
    this.#byAddress.touch(place);
  }

  /** Places of an account, ascending, some at a time. */
  *places(account: number): Generator<Uint32Array> {
    for (const { chunk, from, to } of this.#partsOfAccount(account)) yield chunk.places.slice(from, to);
  }

  /** The same as `ofAccount`, as it is when the last step returns; pauses in between. */
  *findOfAccount(account: number, filter: FreeFilter): Generator<void, FreePart[]> {
    const { version } = this.#byAccount;
    const parts: FreePart[] = [];
    for (const part of this.#partsOfAccount(account)) {
      if (!hasSummary(part.chunk, filter)) yield;
      if (this.#byAccount.version !== version) return this.ofAccount(account, filter);
      this.#addMatching(parts, part, filter);
    }
    return parts;
  }

  /** Those of an account's places that match: what they are later does not follow changes. */
  ofAccount(account: number, filter: FreeFilter): FreePart[] {
    return this.#matchingParts(this.#partsOfAccount(account), filter);
  }

  /** The same of an address. */
  ofAddress(
    { major, minor }: { readonly major: number; readonly minor: number },
    filter: FreeFilter,
  ): FreePart[] {
    const isBefore = (place: number) => {
      const account = this.#major(place);
      return account < major || (account === major && this.#minor(place) < minor);
    };
    const isAfter = (place: number) => {
      const account = this.#major(place);
      return account > major || (account === major && this.#minor(place) > minor);
    };
    return this.#matchingParts(this.#byAddress.range(isBefore, isAfter), filter);
  }

  #partsOfAccount(account: number): ChunkPart[] {
    return this.#byAccount.range(
      (place) => this.#major(place) < account,
      (place) => this.#major(place) > account,
    );
  }

  #matchingParts(parts: readonly ChunkPart[], filter: FreeFilter): FreePart[] {
    const matchingParts: FreePart[] = [];
    for (const part of parts) this.#addMatching(matchingParts, part, filter);
    return matchingParts;
  }

  #addMatching(matchingParts: FreePart[], { chunk, from, to }: ChunkPart, filter: FreeFilter): void {
    const { places, length } = chunk;
    const isWhole = to - from === length;
    const summary = isWhole
      ? summaryOf(this.#pages, chunk, filter)
      : summarize(this.#pages, { places, from, to }, filter);
    if (summary.count === 0) return;
    chunk.isShared = true;
    matchingParts.push({ places, from, to, summary });
  }

  #inAccount(place: number): (other: number) => number {
    const [pages, major] = [this.#pages, this.#major(place)];
    return (other) => {
      const { majors } = pages[Math.floor(other / PAGE_OUTPUTS)]!.columns;
      return majors[other % PAGE_OUTPUTS]! - major || other - place;
    };
  }

  #inAddress(place: number): (other: number) => number {
    const [pages, major, minor] = [this.#pages, this.#major(place), this.#minor(place)];
    return (other) => {
      const { majors, minors } = pages[Math.floor(other / PAGE_OUTPUTS)]!.columns;
      const index = other % PAGE_OUTPUTS;
      return majors[index]! - major || minors[index]! - minor || other - place;
    };
  }

  #major(place: number): number {
    return this.#pages[Math.floor(place / PAGE_OUTPUTS)]!.columns.majors[place % PAGE_OUTPUTS]!;
  }

  #minor(place: number): number {
    return this.#pages[Math.floor(place / PAGE_OUTPUTS)]!.columns.minors[place % PAGE_OUTPUTS]!;
  }
}

/** The places of a part that match, ascending. */
export const placesIn = (part: FreePart): Uint32Array => matching(part, part.summary);

type Keyed = { readonly places: Uint32Array; readonly keys: Uint32Array };

/** Sorts places by the keys they have; those with equal ones keep their order. Pauses in between. */
function* sortedBy(keyed: Keyed): Generator<void, Uint32Array> {
  let most = 0;
  for (const key of keyed.keys) if (key > most) most = key;
  if (most === 0) return keyed.places;
  const low = yield* sortedByDigit(keyed, 0);
  return most < 2 ** DIGIT_BITS ? low.places : (yield* sortedByDigit(low, DIGIT_BITS)).places;
}

/** Sorts by 16 bits of the keys. */
function* sortedByDigit({ places, keys }: Keyed, shift: number): Generator<void, Keyed> {
  const ends = new Uint32Array(2 ** DIGIT_BITS + 1);
  const digitOf = (key: number) => (key >>> shift) & (2 ** DIGIT_BITS - 1);
  for (const key of keys) ends[digitOf(key) + 1]! += 1;
  for (let digit = 1; digit < ends.length; digit++) ends[digit]! += ends[digit - 1]!;
  const sorted = { places: new Uint32Array(places.length), keys: new Uint32Array(keys.length) };
  for (let i = 0; i < places.length; i++) {
    if (i % STEP === STEP - 1) yield;
    const at = ends[digitOf(keys[i]!)]!++;
    sorted.places[at] = places[i]!;
    sorted.keys[at] = keys[i]!;
  }
  return sorted;
}
