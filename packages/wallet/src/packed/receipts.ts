/**
 * The payments that a wallet has received, in the order in which they were found: packed, and indexed for what is
 * asked, so that no question reads them all.
 */
import type { SubaddressIndex } from "../outputs/owned-output.ts";
import type { IncomingPayment } from "../payment.ts";
import { Column } from "./column.ts";
import { ReceiptIndices } from "./receipt-indices.ts";
import {
  endOfReceipt,
  hasPaymentId,
  readLock,
  readReceipt,
  readReceiver,
  writeReceipt,
} from "./receipt-record.ts";
import { RecordWriter } from "./record-bytes.ts";
import { readRecordRow, writeRecordRow } from "./record-row.ts";
import { offsetOf, Records } from "./records.ts";
import { SelectedReceipts } from "./selected-receipts.ts";
import { ZONE_ITEMS, Zones } from "./zones.ts";

/** Which receipts are requested. */
export type ReceiptFilter = {
  /** Undefined: all accounts. */
  readonly account: number | undefined;
  /** Empty: all addresses. */
  readonly minors: readonly number[];
  /** Above this height. */
  readonly minHeight: number;
  /** Up to and including this height. */
  readonly maxHeight: number;
};

/** Receipts of a row, which is a zone. */
const ROW_RECEIPTS = ZONE_ITEMS;
/** From this many removed items on, indices are built again rather than updated. */
const MANY = 10_000;

/** Receipts of several addresses that are sorted at once; to find more, all receipts are walked in order. */
const MAX_SORTED = 100_000;

export class Receipts implements Iterable<IncomingPayment> {
  readonly #records = new Records();
  readonly #writer = new RecordWriter();
  /** Address of each record, by place. */
  readonly #addresses = new Column();
  readonly #zones = new Zones();
  #removeCount = 0;
  #reads = 0;
  /** Place from which on receipts have changed since their rows were taken, and the number of rows before that. */
  #changedFrom = 0;
  #rowsBefore = 0;

  readonly #indices = new ReceiptIndices({
    chunkOf: (place) => this.#chunk(place),
    offsetOf: (place) => this.#offset(place),
  });

  /** The receipts of a list, in its order. */
  static of(payments: Iterable<IncomingPayment>): Receipts {
    const receipts = new Receipts();
    for (const payment of payments) receipts.push(payment);
    return receipts;
  }

  get length(): number {
    return this.#addresses.length;
  }

  /** Number of times that receipts were removed: a walk over several turns starts again if this has changed. */
  get removeCount(): number {
    return this.#removeCount;
  }

  /** Number of receipts read so far. */
  get reads(): number {
    return this.#reads;
  }

  /** Bytes of all records. */
  get bytes(): number {
    return this.#records.bytes;
  }

  /** Adds a receipt at the end; returns its place. */
  push(payment: IncomingPayment): number {
    const place = this.length;
    writeReceipt(this.#writer.begin(), payment);
    this.#changedFrom = Math.min(this.#changedFrom, place);
    this.#addresses.push(this.#records.add(this.#writer.record));
    this.#zones.add(place, payment.height, payment.unlockTime);
    this.#indices.add(place);
    return place;
  }

  /** Makes the indices, after rows were added, in steps between which nothing may change. */
  index(): Generator<void> {
    return this.#indices.addAll(this.length);
  }

  /** The rows that have changed since the last call; those without receipts are among them. */
  takeChangedRows(): number[] {
    const rows: number[] = [];
    const end = Math.max(this.#rowsBefore, Math.ceil(this.length / ROW_RECEIPTS));
    for (let row = Math.floor(this.#changedFrom / ROW_RECEIPTS); row < end; row++) rows.push(row);
    this.#changedFrom = Number.POSITIVE_INFINITY;
    this.#rowsBefore = Math.ceil(this.length / ROW_RECEIPTS);
    return rows;
  }

  /** The receipts of a row; undefined if there are none. */
  rowBytes(row: number): Uint8Array | undefined {
    const first = row * ROW_RECEIPTS;
    const end = Math.min(first + ROW_RECEIPTS, this.length);
    if (first >= end) return undefined;
    const records: Uint8Array[] = [];
    for (let place = first; place < end; place++)
      records.push(this.#chunk(place).subarray(this.#offset(place), this.#endOf(place)));
    return writeRecordRow(records, this.#zones.at(row));
  }

  /** Makes room for the receipts of some rows. */
  reserveRows(rows: number): void {
    this.#addresses.reserve(rows * ROW_RECEIPTS);
  }

  /** Adds the receipts of the next row, which are found once `index` has run. Throws `RangeError`. */
  addRow(bytes: Uint8Array): void {
    const first = this.length;
    if (first % ROW_RECEIPTS !== 0) throw new RangeError("a row behind one that is not full");
    const { zone, records, lengths } = readRecordRow(bytes);
    if (lengths.length > ROW_RECEIPTS) throw new RangeError("a row of too many receipts");
    this.#records.addAll(records, lengths, (address) => this.#addresses.push(address));
    this.#zones.set(first / ROW_RECEIPTS, zone);
    this.#changedFrom = Number.POSITIVE_INFINITY;
    this.#rowsBefore = Math.ceil(this.length / ROW_RECEIPTS);
  }

  #endOf(place: number): number {
    return endOfReceipt(this.#chunk(place), this.#offset(place));
  }

  /** The receipt at a place below `length`. */
  at(place: number): IncomingPayment {
    this.#reads += 1;
    return readReceipt(this.#chunk(place), this.#offset(place));
  }

  /** The address that received it, at a place below `length`. */
  receiverAt(place: number): SubaddressIndex {
    return readReceiver(this.#chunk(place), this.#offset(place));
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
    return readLock(this.#chunk(place), this.#offset(place));
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
      minors.length === 0
        ? [this.#indices.ofAccount(account)]
        : Array.from(new Set(minors), (minor) => this.#indices.ofAddress({ major: account, minor }));
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
    const addresses = new Uint32Array(places.length);
    for (let i = 0; i < places.length; i++) addresses[i] = this.#addresses.at(places[i]!);
    return new SelectedReceipts(this.#records.view(), addresses);
  }

  /** Whether the receipt at a place has a payment id. */
  hasPaymentId(place: number): boolean {
    return hasPaymentId(this.#chunk(place), this.#offset(place));
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
    this.#changedFrom = Math.min(this.#changedFrom, first);
    const isMany = this.length - first > MANY && this.length - first > first;
    if (isMany) this.#indices.clear();
    else for (let place = this.length - 1; place >= first; place--) this.#indices.remove(place);
    const address = this.#addresses.at(first);
    const from = this.#zones.removeFrom(first);
    this.#addresses.removeFrom(first);
    if (first === 0) this.#records.clear();
    else this.#records.removeFrom(address);
    for (let place = from; place < first; place++) {
      const { height, unlockTime } = this.lockAt(place);
      this.#zones.add(place, height, unlockTime);
    }
    if (isMany) for (const _ of this.index());
  }

  *#placesIn([from, to]: readonly [number, number]): Generator<number> {
    for (let place = from; place < Math.min(to, this.length); place++) yield place;
  }

  #chunk(place: number): Uint8Array {
    return this.#records.chunkOf(this.#addresses.at(place));
  }

  #offset(place: number): number {
    return offsetOf(this.#addresses.at(place));
  }
}

function isTo({ major, minor }: SubaddressIndex, { account, minors }: ReceiptFilter): boolean {
  return (account === undefined || account === major) && (minors.length === 0 || minors.includes(minor));
}
