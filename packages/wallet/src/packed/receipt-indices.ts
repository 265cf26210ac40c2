/** Finds receipts by transaction, payment id, account and address: places only, the keys are in the receipts. */
import type { SubaddressIndex } from "../outputs/owned-output.ts";
import { KeyHash, NOWHERE, PlaceIndex } from "./place-index.ts";
import { hasHash, hashOffset, hasPaymentId, readReceiptId, readReceiver } from "./receipt-record.ts";

/** Where the record of the receipt at a place is. */
export type ReceiptAt = {
  readonly chunkOf: (place: number) => Uint8Array;
  readonly offsetOf: (place: number) => number;
};

export class ReceiptIndices {
  readonly #at: ReceiptAt;
  readonly #hash = new KeyHash();
  readonly #byTransaction = new PlaceIndex({
    hashOf: (place) => this.#hash.ofBytes(this.#at.chunkOf(place), hashOffset(this.#at.offsetOf(place))),
    isSame: (place, other) =>
      this.#isOf(place, this.#at.chunkOf(other), hashOffset(this.#at.offsetOf(other))),
  });
  readonly #byPaymentId = new PlaceIndex({
    hashOf: (place) => this.#hash.ofBytes(this.#idAt(place), 0),
    isSame: (place, other) => Buffer.compare(this.#idAt(place), this.#idAt(other)) === 0,
  });
  readonly #byAccount = new PlaceIndex({
    hashOf: (place) => this.#hash.ofNumbers(this.#receiverAt(place).major, 0),
    isSame: (place, other) => this.#receiverAt(place).major === this.#receiverAt(other).major,
  });
  readonly #byAddress = new PlaceIndex({
    hashOf: (place) => hashOfAddress(this.#hash, this.#receiverAt(place)),
    isSame: (place, other) => isSameAddress(this.#receiverAt(place), this.#receiverAt(other)),
  });

  constructor(at: ReceiptAt) {
    this.#at = at;
  }

  /** Adds the receipt at a place, which is the newest. */
  add(place: number): void {
    this.#byTransaction.add(place);
    this.#byAccount.add(place);
    this.#byAddress.add(place);
    if (this.#hasId(place)) this.#byPaymentId.add(place);
  }

  /** Adds all receipts to empty indices; pauses in between. */
  *addAll(count: number): Generator<void> {
    yield* this.#byTransaction.addAll(count);
    yield* this.#byPaymentId.addAll(count, (place) => this.#hasId(place));
    // Of these there are few, and room is made for as many as there are.
    for (let place = 0; place < count; place++) {
      this.#byAccount.add(place);
      this.#byAddress.add(place);
      yield;
    }
  }

  /** Removes the newest receipt. */
  remove(place: number): void {
    for (const index of [this.#byTransaction, this.#byAccount, this.#byAddress]) index.remove(place);
    if (this.#hasId(place)) this.#byPaymentId.remove(place);
  }

  clear(): void {
    for (const index of [this.#byTransaction, this.#byAccount, this.#byAddress, this.#byPaymentId])
      index.clear();
  }

  /** Places of the receipts of a transaction (id of 32 bytes), newest first. */
  ofTransaction(txHash: Uint8Array): Generator<number> {
    const hash = this.#hash.ofBytes(txHash, 0);
    return chain(this.#byTransaction, hash, (place) => this.#isOf(place, txHash));
  }

  /** Places of the receipts with a payment id (32 bytes), newest first. */
  withId(paymentId: Uint8Array): Generator<number> {
    const isWanted = (place: number) => Buffer.compare(this.#idAt(place), paymentId) === 0;
    return chain(this.#byPaymentId, this.#hash.ofBytes(paymentId, 0), isWanted);
  }

  /** Places of the receipts of an account, newest first. */
  ofAccount(account: number): Generator<number> {
    const isWanted = (place: number) => this.#receiverAt(place).major === account;
    return chain(this.#byAccount, this.#hash.ofNumbers(account, 0), isWanted);
  }

  /** Places of the receipts of an address, newest first. */
  ofAddress(address: SubaddressIndex): Generator<number> {
    const isWanted = (place: number) => isSameAddress(this.#receiverAt(place), address);
    return chain(this.#byAddress, hashOfAddress(this.#hash, address), isWanted);
  }

  #receiverAt(place: number): SubaddressIndex {
    return readReceiver(this.#at.chunkOf(place), this.#at.offsetOf(place));
  }

  #hasId(place: number): boolean {
    return hasPaymentId(this.#at.chunkOf(place), this.#at.offsetOf(place));
  }

  #idAt(place: number): Uint8Array {
    return readReceiptId(this.#at.chunkOf(place), this.#at.offsetOf(place));
  }

  #isOf(place: number, hash: Uint8Array, hashAt = 0): boolean {
    return hasHash(this.#at.chunkOf(place), this.#at.offsetOf(place), hash, hashAt);
  }
}

function* chain(index: PlaceIndex, hash: number, isWanted: (place: number) => boolean): Generator<number> {
  for (let place = index.newest(hash, isWanted); place !== NOWHERE; place = index.before(place)) yield place;
}

const hashOfAddress = (hash: KeyHash, { major, minor }: SubaddressIndex): number =>
  hash.ofNumbers(major, minor + 1);

const isSameAddress = (a: SubaddressIndex, b: SubaddressIndex): boolean =>
  a.major === b.major && a.minor === b.minor;
