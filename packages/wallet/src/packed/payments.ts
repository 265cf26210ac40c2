/**
 * The payments that a wallet has made, in the order in which they were first recorded. Those in a block that are not
 * sent again are packed; the few others are held as they are. None of them is changed in place.
 */

import { toHex } from "@anulo/protocol";
import type { OutgoingPayment } from "../payment.ts";
import { Column } from "./column.ts";
import { HeightOrder } from "./height-order.ts";
import { LazyMap, LazySet } from "./lazy-map.ts";
import {
  endOfPayment,
  hashIn,
  isFrom,
  isSettled,
  readPayer,
  readPayment,
  readPaymentLock,
  writePayment,
} from "./payment-record.ts";
import { KeyHash, NOWHERE, PlaceIndex } from "./place-index.ts";
import type { ReceiptFilter } from "./receipts.ts";
import { RecordWriter } from "./record-bytes.ts";
import { readRecordRow, writeRecordRow } from "./record-row.ts";
import { offsetOf, Records, Selected } from "./records.ts";

/** Values of the column of addresses: no payment, and one that is not packed. */
const EMPTY = 0xffffffff;
const LIVE = 0xfffffffe;
/** Places of a row of a store. */
export const PAYMENTS_PER_ROW = 64;
/** Places without payment that are tolerated, beside as many as there are payments. */
const EMPTY_PLACES = 1024;

export class Payments implements Iterable<[string, OutgoingPayment]> {
  #records = new Records();
  readonly #writer = new RecordWriter();
  /** Address of each record, by place. */
  readonly #addresses = new Column();
  readonly #live = new LazyMap<number, OutgoingPayment>();
  #size = 0;
  #packed = 0;
  /** Number of records ever written to `#records`. */
  #writtenBytes = 0;
  #reads = 0;
  readonly #hash = new KeyHash();
  readonly #byId = new PlaceIndex({
    hashOf: (place) => this.#hash.ofBytes(this.#idAt(place), 0),
    isSame: (place, other) => Buffer.compare(this.#idAt(place), this.#idAt(other)) === 0,
  });
  /** Places of those in a block. */
  readonly #confirmed = new HeightOrder();
  readonly #unconfirmed = new LazySet<number>();
  /** Those in a block that could be sent again. */
  readonly #withBlob = new LazySet<number>();
  /** Packed ones that are locked for longer than their block. */
  readonly #locked = new LazySet<number>();
  /** Places of those that may still be mined, by hex key image of their inputs. */
  readonly #byImage = new LazyMap<string, readonly number[]>();
  #latestUnlock = 0;
  /** Places whose payments have changed since they were taken. */
  readonly #changed = new LazySet<number>();

  static of(entries: Iterable<readonly [string, OutgoingPayment]>): Payments {
    const payments = new Payments();
    for (const [id, payment] of entries) payments.set(id, payment);
    return payments;
  }

  get size(): number {
    return this.#size;
  }

  /** Number of packed payments read so far. */
  get reads(): number {
    return this.#reads;
  }

  /** Bytes of the packed ones. */
  get bytes(): number {
    return this.#records.bytes;
  }

  /** An unlock time that none exceeds, also none of those deleted meanwhile. */
  get latestUnlock(): number {
    return this.#latestUnlock;
  }

  has(id: string): boolean {
    return this.#placeOf(id) !== NOWHERE;
  }

  get(id: string): OutgoingPayment | undefined {
    const place = this.#placeOf(id);
    return place === NOWHERE ? undefined : this.#at(place);
  }

  /** `id`: the transaction's, in hex; a payment that is there already keeps its place in the order. */
  set(id: string, payment: OutgoingPayment): this {
    if (toHex(payment.txHash) !== id) throw new TypeError("a payment has the id of its transaction");
    const existing = this.#placeOf(id);
    if (existing === NOWHERE) this.#removeEmpty();
    const place = existing === NOWHERE ? this.#addresses.length : existing;
    // Nothing is changed if the payment can't be packed.
    const record = isSettled(payment) ? this.#recordOf(payment) : undefined;
    if (existing !== NOWHERE) this.#drop(place);
    this.#changed.add(place);
    this.#put(place, { payment, record, isNew: existing === NOWHERE });
    if (this.#writtenBytes > 2 * this.#packed + EMPTY_PLACES) this.#packAgain();
    return this;
  }

  #put(
    place: number,
    entry: {
      readonly payment: OutgoingPayment;
      readonly record: Uint8Array | undefined;
      readonly isNew: boolean;
    },
  ): void {
    if (entry.record === undefined) {
      this.#live.set(place, entry.payment);
      this.#addresses.set(place, LIVE);
    } else {
      this.#addresses.set(place, this.#records.add(entry.record));
      this.#packed += 1;
      this.#writtenBytes += 1;
    }
    this.#size += 1;
    if (entry.isNew) this.#byId.add(place);
    this.#note(place, entry.payment);
  }

  /** The places whose payments have changed since the last call; those without payment are among them. */
  takeChanged(): ReadonlySet<number> {
    return this.#changed.take();
  }

  /** The payment at a place, if it is not packed. */
  liveAt(place: number): OutgoingPayment | undefined {
    return this.#live.get(place);
  }

  /** The packed payments of a row of places; undefined if there are none. */
  rowBytes(row: number): Uint8Array | undefined {
    const packed: [number, Uint8Array][] = [];
    const end = Math.min((row + 1) * PAYMENTS_PER_ROW, this.#addresses.length);
    for (let place = row * PAYMENTS_PER_ROW; place < end; place++) {
      const address = this.#addresses.at(place);
      if (address === EMPTY || address === LIVE) continue;
      const [chunk, at] = [this.#records.chunkOf(address), offsetOf(address)];
      packed.push([place % PAYMENTS_PER_ROW, chunk.subarray(at, endOfPayment(chunk, at))]);
    }
    if (packed.length === 0) return undefined;
    const records = packed.flatMap(([index, record]) => [Uint8Array.of(index), record]);
    return writeRecordRow(records, { lowest: 0, highest: 0, latestUnlock: 0 });
  }

  /** Adds the packed payments of a row, found by their ids once `index` has run. Throws `RangeError`. */
  addRow(row: number, bytes: Uint8Array): void {
    const { records, lengths } = readRecordRow(bytes);
    let from = 0;
    for (let i = 0; i + 1 < lengths.length; i += 2) {
      const place = row * PAYMENTS_PER_ROW + records[from]!;
      from += lengths[i]!;
      const record = records.subarray(from, from + lengths[i + 1]!);
      from += record.length;
      this.#reserve(place);
      this.#addresses.set(place, this.#records.add(record));
      this.#size += 1;
      this.#packed += 1;
      this.#writtenBytes += 1;
      this.#notePacked(place, readPaymentLock(record, 0));
    }
  }

  /** Adds a payment that is not packed, found by its id once `index` has run. */
  addLive(place: number, payment: OutgoingPayment): void {
    this.#reserve(place);
    this.#addresses.set(place, LIVE);
    this.#live.set(place, payment);
    this.#size += 1;
    this.#note(place, payment);
  }

  /** Makes what finds payments by their ids, after rows were added; pauses in between. */
  index(): Generator<void> {
    return this.#byId.addAll(this.#addresses.length, (place) => this.#addresses.at(place) !== EMPTY);
  }

  /** Makes the places before one exist, without payments. */
  #reserve(place: number): void {
    while (this.#addresses.length < place) this.#addresses.push(EMPTY);
  }

  #recordOf(payment: Parameters<typeof writePayment>[1]): Uint8Array {
    writePayment(this.#writer.begin(), payment);
    return this.#writer.record;
  }

  delete(id: string): boolean {
    const place = this.#placeOf(id);
    if (place === NOWHERE) return false;
    this.#byId.remove(place);
    this.#drop(place);
    this.#addresses.set(place, EMPTY);
    this.#changed.add(place);
    return true;
  }

  *keys(): Generator<string> {
    for (const place of this.#places()) yield toHex(this.#idAt(place));
  }

  *values(): Generator<OutgoingPayment> {
    for (const place of this.#places()) yield this.#at(place);
  }

  *[Symbol.iterator](): Generator<[string, OutgoingPayment]> {
    for (const place of this.#places()) {
      const payment = this.#at(place);
      yield [toHex(payment.txHash), payment];
    }
  }

  *#places(): Generator<number> {
    for (let place = 0; place < this.#addresses.length; place++)
      if (this.#addresses.at(place) !== EMPTY) yield place;
  }

  /** Those in no block, failed ones included, in order. */
  unconfirmed(): OutgoingPayment[] {
    return [...this.#unconfirmed].sort(ascending).map((place) => this.#live.get(place)!);
  }

  /** Those in a block up to a height that could be sent again, in order. */
  withBlobUpTo(height: number): OutgoingPayment[] {
    const deep = [...this.#withBlob].filter((place) => this.#live.get(place)!.height <= height);
    return deep.sort(ascending).map((place) => this.#live.get(place)!);
  }

  /** Those in blocks from a height on, in order. */
  confirmedFrom(height: number): OutgoingPayment[] {
    const places = this.#confirmed.between(height, Number.POSITIVE_INFINITY);
    return [...places].sort(ascending).map((place) => this.#at(place));
  }

  /** Those in a block that are not `depth` blocks deep, or are locked, at a height; in order. */
  unsettled(depth: number, height: number): OutgoingPayment[] {
    const places = new Set(this.#confirmed.between(height - depth + 1, Number.POSITIVE_INFINITY));
    for (const place of [...this.#locked, ...this.#withBlob]) places.add(place);
    return [...places]
      .sort(ascending)
      .map((place) => this.#at(place))
      .filter((it) => it.height + depth > height || it.unlockTime > BigInt(height));
  }

  /**
   * The first that spends an input with this key image (32 bytes) and may still be mined, other than the one with the id
   * `except`.
   */
  spenderOf(image: Uint8Array, except?: string): string | undefined {
    if (this.#byImage.size === 0) return undefined;
    const ids = [...(this.#byImage.get(toHex(image)) ?? [])]
      .sort(ascending)
      .map((place) => toHex(this.#idAt(place)));
    return ids.find((id) => id !== except);
  }

  /**
   * Finds those in a block that match, the highest first, of one height the newest: all as they are at the first step,
   * whatever changes later. Pauses in between.
   */
  *matching(filter: ReceiptFilter): Generator<void, Selected<OutgoingPayment>> {
    const places = this.#confirmed.within(filter.minHeight + 1, filter.maxHeight).reverse();
    const view = this.#records.view();
    const live = new Map<number, OutgoingPayment>();
    for (let i = 0; i < places.length; i++) {
      const place = places[i]!;
      const address = this.#addresses.at(place);
      if (address === LIVE) live.set(i, this.#live.get(place)!);
      places[i] = address;
    }
    const paymentAt = (index: number) => {
      const address = places[index]!;
      return live.get(index) ?? readPayment(view.chunkOf(address), offsetOf(address));
    };
    if (filter.account === undefined && filter.minors.size === 0)
      return new Selected(places.length, paymentAt);
    const matches: number[] = [];
    for (const [index, address] of places.entries()) {
      const payer = live.get(index) ?? readPayer(view.chunkOf(address), offsetOf(address));
      this.#reads += 1;
      if (isFrom(payer, filter)) matches.push(index);
      yield;
    }
    return new Selected(matches.length, (at) => paymentAt(matches[at]!));
  }

  #at(place: number): OutgoingPayment {
    const address = this.#addresses.at(place);
    if (address === LIVE) return this.#live.get(place)!;
    this.#reads += 1;
    return readPayment(this.#records.chunkOf(address), offsetOf(address));
  }

  #idAt(place: number): Uint8Array {
    const address = this.#addresses.at(place);
    if (address === LIVE) return this.#live.get(place)!.txHash;
    return hashIn(this.#records.chunkOf(address), offsetOf(address));
  }

  #placeOf(id: string): number {
    const txHash = Buffer.from(id, "hex");
    if (txHash.length !== 32) return NOWHERE;
    const isWanted = (place: number) => Buffer.compare(this.#idAt(place), txHash) === 0;
    return this.#byId.newest(this.#hash.ofBytes(txHash, 0), isWanted);
  }

  /** Adds a packed payment to the indices. */
  #notePacked(place: number, { height, unlockTime }: Pick<OutgoingPayment, "height" | "unlockTime">): void {
    const unlock = Number(unlockTime);
    this.#latestUnlock = Math.max(this.#latestUnlock, unlock);
    this.#confirmed.add(place, height);
    if (unlock > height) this.#locked.add(place);
  }

  /** Adds a payment to the indices. */
  #note(place: number, payment: OutgoingPayment): void {
    if (isSettled(payment)) {
      this.#notePacked(place, payment);
      return;
    }
    const { state, height, unlockTime, keyImages } = payment;
    this.#latestUnlock = Math.max(this.#latestUnlock, Number(unlockTime));
    if (state === "confirmed") {
      this.#confirmed.add(place, height);
      this.#withBlob.add(place);
      return;
    }
    this.#unconfirmed.add(place);
    if (state === "failed") return;
    for (const image of new Set(keyImages.map(toHex)))
      this.#byImage.set(image, [...(this.#byImage.get(image) ?? []), place]);
  }

  /** Reverts `#note`, and drops the payment. */
  #drop(place: number): void {
    const payment = this.#live.get(place);
    this.#size -= 1;
    this.#confirmed.remove(place);
    this.#locked.delete(place);
    if (payment === undefined) {
      this.#packed -= 1;
      return;
    }
    this.#unconfirmed.delete(place);
    this.#withBlob.delete(place);
    this.#live.delete(place);
    for (const image of payment.keyImages.map(toHex)) {
      const others = (this.#byImage.get(image) ?? []).filter((other) => other !== place);
      if (others.length > 0) this.#byImage.set(image, others);
      else this.#byImage.delete(image);
    }
  }

  /** Numbers the places anew once most of them are empty: never while they are walked, which adds no payment. */
  #removeEmpty(): void {
    if (this.#addresses.length <= 2 * this.#size + EMPTY_PLACES) return;
    const all = [...this.values()];
    this.clear();
    for (const payment of all) this.set(toHex(payment.txHash), payment);
  }

  /** Removes all payments at once. */
  clear(): void {
    for (let place = 0; place < this.#addresses.length; place++) this.#changed.add(place);
    this.#records.clear();
    this.#addresses.removeFrom(0);
    this.#byId.clear();
    this.#confirmed.clear();
    for (const it of [this.#live, this.#unconfirmed, this.#withBlob, this.#locked, this.#byImage]) it.clear();
    [this.#size, this.#packed, this.#writtenBytes] = [0, 0, 0];
  }

  /** Drops the records that others have replaced. */
  #packAgain(): void {
    const before = this.#records;
    this.#records = new Records();
    for (const place of this.#places()) {
      const address = this.#addresses.at(place);
      if (address === LIVE) continue;
      const record = this.#recordOf(readPayment(before.chunkOf(address), offsetOf(address)));
      this.#addresses.set(place, this.#records.add(record));
    }
    this.#writtenBytes = this.#packed;
  }
}

const ascending = (a: number, b: number): number => a - b;
