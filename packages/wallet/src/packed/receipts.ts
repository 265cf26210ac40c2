/**
 * The payments that a wallet has received, in the order in which they were found: packed, in pages that are read from a
 * store when they are needed, and indexed for what is asked, so that no question reads them all.
 */
import type { SubaddressIndex } from "../outputs/owned-output.ts";
import type { IncomingPayment } from "../payment.ts";
import { Column } from "./column.ts";
import { SEGMENT_PLACES } from "./hash-segment.ts";
import { ReceiptIndices } from "./receipt-indices.ts";
import { PAGE_RECEIPTS, ReceiptPages } from "./receipt-pages.ts";
import { hasPaymentId, readLock, readReceipt, readReceiver, writeReceipt } from "./receipt-record.ts";
import { RecordWriter } from "./record-bytes.ts";
import { SelectedReceipts } from "./selected-receipts.ts";
import { Zones } from "./zones.ts";

/** Which receipts are requested. */
export type ReceiptFilter = {
  /** Undefined: all accounts. */
  readonly account: number | undefined;
  /** Empty: all addresses. */
  readonly minors: ReadonlySet<number>;
  /** Above this height. */
  readonly minHeight: number;
  /** Up to and including this height. */
  readonly maxHeight: number;
  /** Whether those with a payment id are left out. */
  readonly isWithoutId?: boolean;
};

/** Blocks above a receipt from which on it is in a segment: reorganisations seldom reach that far. */
const SEGMENT_DEPTH = 200;

/** Receipts of several addresses that are sorted at once; to find more, all receipts are walked in order. */
const MAX_SORTED = 100_000;

export class Receipts implements Iterable<IncomingPayment> {
  readonly #pages = new ReceiptPages();
  readonly #writer = new RecordWriter();
  readonly #zones = new Zones();
  #removeCount = 0;
  #reads = 0;
  readonly #indices = new ReceiptIndices((place) => this.#pages.at(place));

  /** The receipts of a list, in its order. */
  static of(payments: Iterable<IncomingPayment>): Receipts {
    const receipts = new Receipts();
    for (const payment of payments) receipts.push(payment);
    return receipts;
  }

  get length(): number {
    return this.#pages.count;
  }

  /** Number of times that receipts were removed: a walk over several turns starts again if this has changed. */
  get removeCount(): number {
    return this.#removeCount;
  }

  /** Number of receipts read so far. */
  get reads(): number {
    return this.#reads;
  }

  /** Adds a receipt at the end; returns its place. */
  push(payment: IncomingPayment): number {
    const place = this.length;
    writeReceipt(this.#writer.begin(), payment);
    this.#pages.push(this.#writer.record);
    this.#zones.add(place, payment.height, payment.unlockTime);
    this.#indices.add(place);
    return place;
  }

  /** Makes the indices of what is in no segment, after rows were added, in steps between which nothing may change. */
  index(): Generator<void> {
    return this.#indices.addRest(this.length);
  }

  /** What finds receipts. */
  get indices(): ReceiptIndices {
    return this.#indices;
  }

  /** Where the records are, and what rows a store has of them. */
  get pages(): ReceiptPages {
    return this.#pages;
  }

  /** What is true of some hundred receipts each, by row. */
  get zones(): Zones {
    return this.#zones;
  }

  /** Whether the first receipts behind the segments of the indices are deep enough for the next one. */
  get isSegmentDue(): boolean {
    const end = (this.#indices.segments.length + 1) * SEGMENT_PLACES;
    if (this.length <= end) return false;
    const newest = this.#zones.at(Math.floor((this.length - 1) / PAGE_RECEIPTS)).highest;
    return this.#zones.at(end / PAGE_RECEIPTS - 1).highest + SEGMENT_DEPTH <= newest;
  }

  /** Makes the segments of the indices that are due, in steps; it ends if receipts are removed between two of them. */
  *makeSegments(): Generator<void> {
    const removeCount = this.#removeCount;
    while (this.isSegmentDue)
      for (const _ of this.#indices.makeSegment(() => this.length)) {
        yield;
        if (this.#removeCount !== removeCount) return;
      }
  }

  /** The receipts of a row; undefined if there are none. */
  rowBytes(row: number): Uint8Array | undefined {
    return row * PAGE_RECEIPTS < this.length ? this.#pages.rowBytes(row, this.#zones.at(row)) : undefined;
  }

  /** Adds the receipts of the next row, which are found once `index` has run. Throws `RangeError`. */
  addRow(bytes: Uint8Array): void {
    const row = this.length / PAGE_RECEIPTS;
    this.#zones.set(row, this.#pages.addRow(bytes));
  }

  /** The receipt at a place below `length`. */
  at(place: number): IncomingPayment {
    this.#reads += 1;
    const { chunk, at } = this.#pages.at(place);
    return readReceipt(chunk, at);
  }

  /** The address that received it, at a place below `length`. */
  receiverAt(place: number): SubaddressIndex {
    const { chunk, at } = this.#pages.at(place);
    return readReceiver(chunk, at);
  }

  slice(from = 0, to = this.length): IncomingPayment[] {
    const items: IncomingPayment[] = [];
    for (let place = from; place < Math.min(to, this.length); place++) items.push(this.at(place));
    return items;
  }

  *[Symbol.iterator](): Generator<IncomingPayment> {
    for (let place = 0; place < this.length; place++) yield this.at(place);
  }

  /** Places of the receipts of a transaction (id of 32 bytes), ascending. */
  placesOf(txHash: Uint8Array): number[] {
    return [...this.#indices.ofTransaction(txHash)].reverse();
  }

  has(txHash: Uint8Array): boolean {
    return this.#indices.ofTransaction(txHash).next().done !== true;
  }

  /** Places of the receipts with a payment id (32 bytes, not all zero), newest first. */
  placesWithId(paymentId: Uint8Array): number[] {
    return [...this.#indices.withId(paymentId)];
  }

  /** Places of the receipts that may not be `depth` blocks deep, or are locked, at a height; ascending. */
  *unsettled(depth: number, height: number): Generator<number> {
    for (const range of this.#zones.unsettled(depth, height)) yield* this.#placesIn(range);
  }

  /** Places of the receipts from a height on, ascending. */
  placesFrom(height: number): number[] {
    const places: number[] = [];
    for (const range of this.#zones.within(height, Number.POSITIVE_INFINITY))
      for (const place of this.#placesIn(range)) if (this.lockAt(place).height >= height) places.push(place);
    return places;
  }

  /** The latest unlock time of all; 0 if there are none. */
  get latestUnlock(): number {
    return this.#zones.latestUnlock;
  }

  /** Height and unlock time of the receipt at a place. */
  lockAt(place: number): { readonly height: number; readonly unlockTime: bigint } {
    this.#reads += 1;
    const { chunk, at } = this.#pages.at(place);
    return readLock(chunk, at);
  }

  /**
   * Places of the receipts that match, newest first; pauses between items. Those added in a pause are found as well: all
   * is as it is when the last step returns.
   */
  *matching(filter: ReceiptFilter): Generator<void, Uint32Array> {
    for (;;) {
      const end = this.length;
      const places = yield* this.#matchingBelow(end, filter);
      if (places === undefined) continue;
      const added: number[] = [];
      for (let place = this.length - 1; place >= end; place--)
        if (this.#isMatch(place, filter)) added.push(place);
      if (added.length === 0) return places;
      const all = new Uint32Array(added.length + places.length);
      all.set(added);
      all.set(places, added.length);
      return all;
    }
  }

  /** The places before `end` that match now; undefined if receipts were removed in a pause. */
  *#matchingBelow(end: number, filter: ReceiptFilter): Generator<void, Uint32Array | undefined> {
    const removeCount = this.#removeCount;
    const ranges = [...this.#zones.within(filter.minHeight + 1, filter.maxHeight)];
    const most = ranges.reduce((sum, [from, to]) => sum + to - from, 0);
    const places = (yield* this.#placesOfAccount(filter, most)) ?? this.#backwards(ranges);
    const column = new Column();
    for (const place of places) {
      if (this.#removeCount !== removeCount) return undefined;
      if (place < end && this.#isMatch(place, filter)) column.push(place);
      yield;
    }
    return this.#removeCount === removeCount ? column.slice(0, column.length) : undefined;
  }

  #isMatch(place: number, filter: ReceiptFilter): boolean {
    if (filter.isWithoutId === true && this.#hasPaymentId(place)) return false;
    if (filter.account === undefined && filter.minors.size === 0) {
      const { lowest, highest } = this.#zones.at(Math.floor(place / PAGE_RECEIPTS));
      // Nothing has to be read where all of a page match.
      if (filter.minHeight < lowest && highest <= filter.maxHeight) return true;
    }
    const { height } = this.lockAt(place);
    return filter.minHeight < height && height <= filter.maxHeight && isTo(this.receiverAt(place), filter);
  }

  *#backwards(ranges: readonly (readonly [number, number])[]): Generator<number> {
    const length = this.length;
    for (let i = ranges.length - 1; i >= 0; i--) {
      const [from, to] = ranges[i]!;
      for (let place = Math.min(to, length) - 1; place >= from; place--) yield place;
    }
  }

  /**
   * All receipts of the account or addresses of a filter, newest first; undefined if there are more than `most`, or too
   * many to sort, if the filter has no account, or if receipts were removed in a pause.
   */
  *#placesOfAccount(
    { account, minors }: ReceiptFilter,
    most: number,
  ): Generator<void, Uint32Array | undefined> {
    if (account === undefined) return undefined;
    const removeCount = this.#removeCount;
    const lists =
      minors.size === 0
        ? [this.#indices.ofAccount(account)]
        : Array.from(minors, (minor) => this.#indices.ofAddress({ major: account, minor }));
    const limit = lists.length === 1 ? most : Math.min(most, MAX_SORTED);
    const places = new Column();
    for (const list of lists)
      for (const place of list) {
        if (places.length === limit) return undefined;
        places.push(place);
        yield;
        if (this.#removeCount !== removeCount) return undefined;
      }
    const matches = places.slice(0, places.length);
    return lists.length === 1 ? matches : matches.sort().reverse();
  }

  /** The receipts at these places, as they are now, whatever is removed later. */
  selected(places: ArrayLike<number>): SelectedReceipts {
    const keptPlaces = new Uint32Array(places);
    return new SelectedReceipts(this.#pages.view(keptPlaces), keptPlaces);
  }

  #hasPaymentId(place: number): boolean {
    const { chunk, at } = this.#pages.at(place);
    return hasPaymentId(chunk, at);
  }

  /** Removes all receipts at once. */
  clear(): void {
    if (this.length > 0) this.#cut(0);
  }

  /** Removes the receipts from a height on; returns the lowest place removed, undefined if there is none. */
  removeAbove(height: number): number | undefined {
    return this.removeAt(this.placesFrom(height));
  }

  /**
   * Removes the receipts at these places (ascending); those behind them move up. Returns the lowest of the places.
   */
  removeAt(places: readonly number[]): number | undefined {
    const [first] = places;
    if (first === undefined) return undefined;
    const removed = new Set(places);
    const remaining: IncomingPayment[] = [];
    for (let place = first; place < this.length; place++)
      if (!removed.has(place)) remaining.push(this.at(place));
    this.#cut(first);
    for (const payment of remaining) this.push(payment);
    return first;
  }

  /** Removes the receipts from a place on. */
  #cut(first: number): void {
    this.#removeCount += 1;
    this.#indices.truncate(first, this.length);
    this.#pages.truncate(first);
    for (let place = this.#zones.removeFrom(first); place < first; place++) {
      const { height, unlockTime } = this.lockAt(place);
      this.#zones.add(place, height, unlockTime);
    }
  }

  *#placesIn([from, to]: readonly [number, number]): Generator<number> {
    for (let place = from; place < Math.min(to, this.length); place++) yield place;
  }
}

function isTo({ major, minor }: SubaddressIndex, { account, minors }: ReceiptFilter): boolean {
  return (account === undefined || account === major) && (minors.size === 0 || minors.has(minor));
}
