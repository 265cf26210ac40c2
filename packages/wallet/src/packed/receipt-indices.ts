/**
 * Finds receipts by transaction, payment id, account and address: places only, the keys are in the receipts. Those of
 * the newest receipts are in hash tables; those of receipts that are some hundred blocks deep in segments, which a store
 * keeps, and which are read when something is looked for.
 */
import type { SubaddressIndex } from "../outputs/owned-output.ts";
import { HashSegment, SEGMENT_PLACES } from "./hash-segment.ts";
import { KeyHash, NOWHERE, PlaceIndex } from "./place-index.ts";
import type { RecordAt } from "./receipt-pages.ts";
import { hasHash, hashOffset, hasPaymentId, readReceiptId, readReceiver } from "./receipt-record.ts";

/** Receipts that are indexed between two pauses. */
const STEP = 256;

/** By what receipts are found; the order is that of the stored segments. */
const names = ["transaction", "paymentId", "account", "address"] as const;
type Name = (typeof names)[number];
/** The indices of which segments are stored, by number. */
export const RECEIPT_INDICES = names.length;

/** Reads a stored segment at once; undefined if it is not there as it was written. */
export type ReadSegment = (index: number, segment: number) => HashSegment | undefined;

type Segment = Partial<Record<Name, HashSegment>>;

/** Of the receipts behind the segments, by place less `base`. */
type Tables = { readonly base: number; readonly of: Readonly<Record<Name, PlaceIndex>> };
/** Most wallets receive nothing for a long time, and have no tables then. */
type MadeOrNot = Omit<Tables, "of"> & Partial<Tables>;

export class ReceiptIndices {
  readonly #at: (place: number) => RecordAt;
  readonly #hash = new KeyHash();
  /** Those of the first receipts; what is undefined is read when it is needed. */
  #segments: Segment[] = [];
  #readSegment: ReadSegment = () => undefined;
  #tables: MadeOrNot = { base: 0 };

  constructor(at: (place: number) => RecordAt) {
    this.#at = at;
  }

  #madeTables(): Tables {
    const { base, of = this.#tablesFrom(base).of } = this.#tables;
    const tables = { base, of };
    this.#tables = tables;
    return tables;
  }

  #tablesFrom(base: number): Tables {
    const tableOf = (name: Name, isSame: (place: number, other: number) => boolean) =>
      new PlaceIndex({
        hashOf: (index) => this.#hashOf(name, base + index),
        isSame: (index, other) => isSame(base + index, base + other),
      });
    return {
      base,
      of: {
        transaction: tableOf("transaction", (place, other) => {
          const { chunk, at } = this.#at(other);
          return this.#isOf(place, chunk, hashOffset(at));
        }),
        paymentId: tableOf("paymentId", (a, b) => isSameBytes(this.#idAt(a), this.#idAt(b))),
        account: tableOf("account", (a, b) => this.#receiverAt(a).major === this.#receiverAt(b).major),
        address: tableOf("address", (a, b) => isSameAddress(this.#receiverAt(a), this.#receiverAt(b))),
      },
    };
  }

  /** The segments, each an object of its own, for whoever stores them. */
  get segments(): readonly object[] {
    return this.#segments;
  }

  /** What decides the hashes: indices with another seed can't read these segments. */
  get seed(): Uint8Array {
    return this.#hash.seed;
  }

  /** Begins with the stored segments of so many receipts. Throws `RangeError`. */
  useSegments(count: number, seed: Uint8Array, read: ReadSegment): void {
    this.#hash.useSeed(seed);
    this.#segments = Array.from({ length: count }, () => ({}));
    this.#readSegment = read;
    this.#tables = { base: count * SEGMENT_PLACES };
  }

  /** The bytes of a segment, to be stored. */
  segmentBytes(index: number, segment: number): Uint8Array {
    return this.#segmentOf(names[index]!, segment).bytes;
  }

  /** Adds the receipt at a place, which is the newest. */
  add(place: number): void {
    const { base, of } = this.#madeTables();
    for (const name of names) if (this.#has(name, place)) of[name].add(place - base);
  }

  /** Adds the receipts behind the segments, of `count` in all, to empty tables; pauses in between. */
  *addRest(count: number): Generator<void> {
    if (count > this.#tables.base) yield* this.#fill(this.#madeTables(), count);
  }

  *#fill({ base, of }: Tables, count: number): Generator<void> {
    yield* of.transaction.addAll(count - base);
    yield* of.paymentId.addAll(count - base, (index) => this.#has("paymentId", base + index));
    // Of these there are few, and room is made for as many as there are.
    for (let index = 0; index < count - base; index++) {
      of.account.add(index);
      of.address.add(index);
      yield;
    }
  }

  /**
   * Makes a segment of the first receipts behind the others, none of which may be removed meanwhile: pauses in between,
   * then moves them. `countNow`: of all receipts by then.
   */
  *makeSegment(countNow: () => number): Generator<void> {
    const number = this.#segments.length;
    const segment: Segment = {};
    for (const name of names) segment[name] = yield* this.#build(name, number);
    const tables = this.#tablesFrom((number + 1) * SEGMENT_PLACES);
    for (const _ of this.#fill(tables, countNow()));
    this.#segments.push(segment);
    this.#tables = tables;
  }

  *#build(name: Name, number: number): Generator<void, HashSegment> {
    const items: [number, number][] = [];
    for (let place = number * SEGMENT_PLACES; place < (number + 1) * SEGMENT_PLACES; place++) {
      if (place % STEP === 0) yield;
      if (this.#has(name, place)) items.push([this.#hashOf(name, place), place]);
    }
    yield;
    return HashSegment.of(number, items);
  }

  /** Removes the receipts from a place on, of `count`, all of which must still be there. */
  truncate(from: number, count: number): void {
    const { base, of } = this.#madeTables();
    if (from >= base && count - from <= from - base) {
      for (let place = count - 1; place >= from; place--)
        for (const name of names) if (this.#has(name, place)) of[name].remove(place - base);
      return;
    }
    const segments = Math.min(this.#segments.length, Math.floor(from / SEGMENT_PLACES));
    const tables = this.#tablesFrom(segments * SEGMENT_PLACES);
    for (const _ of this.#fill(tables, from));
    this.#segments.length = segments;
    this.#tables = tables;
  }

  /** Places of the receipts of a transaction (id of 32 bytes), newest first. */
  ofTransaction(txHash: Uint8Array): Generator<number> {
    return this.#find("transaction", this.#hash.ofBytes(txHash, 0), (place) => this.#isOf(place, txHash));
  }

  /** Places of the receipts with a payment id (32 bytes), newest first. */
  withId(paymentId: Uint8Array): Generator<number> {
    const isWanted = (place: number) => isSameBytes(this.#idAt(place), paymentId);
    return this.#find("paymentId", this.#hash.ofBytes(paymentId, 0), isWanted);
  }

  /** Places of the receipts of an account, and maybe others, newest first. */
  ofAccount(account: number): Generator<number> {
    const isWanted = (place: number) => this.#receiverAt(place).major === account;
    return this.#find("account", this.#hash.ofNumbers(account, 0), isWanted);
  }

  /** Places of the receipts of an address, and maybe others, newest first. */
  ofAddress(address: SubaddressIndex): Generator<number> {
    const isWanted = (place: number) => isSameAddress(this.#receiverAt(place), address);
    return this.#find("address", hashOfAddress(this.#hash, address), isWanted);
  }

  /** Of accounts and addresses, who asks has to compare the receipts: some may be of another with the same hash. */
  *#find(name: Name, hash: number, isWanted: (place: number) => boolean): Generator<number> {
    const { base, of } = this.#tables;
    const table = of?.[name];
    const isGuess = name === "account" || name === "address";
    const newest = table?.newest(hash, (index) => isWanted(base + index)) ?? NOWHERE;
    for (let index = newest; index !== NOWHERE; index = table!.before(index)) yield base + index;
    for (let number = this.#segments.length - 1; number >= 0; number--)
      for (const place of this.#segmentOf(name, number).places(hash))
        if (isGuess || isWanted(place)) yield place;
  }

  /** A segment, read from the store or, where that has none that can be believed, made again. */
  #segmentOf(name: Name, number: number): HashSegment {
    const segment = this.#segments[number]!;
    const hashSegment =
      segment[name] ?? this.#readSegment(names.indexOf(name), number) ?? this.#made(name, number);
    segment[name] = hashSegment;
    return hashSegment;
  }

  #made(name: Name, number: number): HashSegment {
    const steps = this.#build(name, number);
    let step = steps.next();
    while (step.done !== true) step = steps.next();
    return step.value;
  }

  #has(name: Name, place: number): boolean {
    if (name !== "paymentId") return true;
    const { chunk, at } = this.#at(place);
    return hasPaymentId(chunk, at);
  }

  #hashOf(name: Name, place: number): number {
    if (name === "paymentId") return this.#hash.ofBytes(this.#idAt(place), 0);
    const { chunk, at } = this.#at(place);
    if (name === "transaction") return this.#hash.ofBytes(chunk, hashOffset(at));
    const receiver = readReceiver(chunk, at);
    return name === "account" ? this.#hash.ofNumbers(receiver.major, 0) : hashOfAddress(this.#hash, receiver);
  }

  #receiverAt(place: number): SubaddressIndex {
    const { chunk, at } = this.#at(place);
    return readReceiver(chunk, at);
  }

  #idAt(place: number): Uint8Array {
    const { chunk, at } = this.#at(place);
    return readReceiptId(chunk, at);
  }

  #isOf(place: number, hash: Uint8Array, hashAt = 0): boolean {
    const { chunk, at } = this.#at(place);
    return hasHash(chunk, at, hash, hashAt);
  }
}

const hashOfAddress = (hash: KeyHash, { major, minor }: SubaddressIndex): number =>
  hash.ofNumbers(major, minor + 1);

const isSameAddress = (a: SubaddressIndex, b: SubaddressIndex): boolean =>
  a.major === b.major && a.minor === b.minor;

const isSameBytes = (a: Uint8Array, b: Uint8Array): boolean => Buffer.compare(a, b) === 0;
