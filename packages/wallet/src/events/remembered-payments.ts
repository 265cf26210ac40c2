/**
 * What was reported of payments whose blocks are scanned again: those in blocks packed, some hundred bytes each, since
 * they may be all that a wallet has received.
 */
import { Receipts } from "../packed/receipts.ts";
import type { IncomingPayment } from "../state.ts";
import { paymentKey } from "./event.ts";

const LOST = 0;
const FOUND = 1;
const FORGOTTEN = 2;
const FIRST_MARKS = 64;

export class RememberedPayments {
  /** Those in blocks. */
  #receipts = new Receipts();
  /** What has become of each of them. */
  #marks = new Uint8Array(FIRST_MARKS);
  /** Those in the pool, by their keys. */
  readonly #pool = new Map<string, { readonly payment: IncomingPayment; isFound: boolean }>();

  /** Adds a payment, which is not found again yet. */
  add(payment: IncomingPayment): void {
    this.forget(payment);
    if (payment.height === 0) {
      this.#pool.set(paymentKey(payment), { payment, isFound: false });
      return;
    }
    const place = this.#receipts.push(payment);
    if (place >= this.#marks.length) {
      const marks = new Uint8Array(2 * this.#marks.length);
      marks.set(this.#marks);
      this.#marks = marks;
    }
    this.#marks[place] = LOST;
  }

  has(payment: IncomingPayment): boolean {
    return this.#pool.has(paymentKey(payment)) || this.#placeOf(payment) !== undefined;
  }

  /** Marks a payment as found again; returns where it was before, undefined if it is not among these. */
  find(payment: IncomingPayment): "block" | "pool" | undefined {
    const place = this.#placeOf(payment);
    if (place !== undefined) {
      this.#marks[place] = FOUND;
      return "block";
    }
    const waiting = this.#pool.get(paymentKey(payment));
    if (waiting === undefined) return undefined;
    waiting.isFound = true;
    return "pool";
  }

  forget(payment: IncomingPayment): void {
    if (this.#pool.size > 0) this.#pool.delete(paymentKey(payment));
    const place = this.#placeOf(payment);
    if (place !== undefined) this.#marks[place] = FORGOTTEN;
  }

  /** Those in blocks that were not found again, in the order in which they were added. */
  lost(): Generator<IncomingPayment> {
    return lostOf(
      () => this.#receipts,
      () => this.#marks,
    );
  }

  /** The same, which are remembered no more. */
  takeLost(): Generator<IncomingPayment> {
    const [receipts, marks] = [this.#receipts, this.#marks];
    this.forgetBlocks();
    return lostOf(
      () => receipts,
      () => marks,
    );
  }

  /** Those in the pool that were not found again. */
  *waiting(): Generator<IncomingPayment> {
    for (const { payment, isFound } of this.#pool.values()) if (!isFound) yield payment;
  }

  forgetBlocks(): void {
    this.#receipts = new Receipts();
    this.#marks = new Uint8Array(FIRST_MARKS);
  }

  clear(): void {
    this.forgetBlocks();
    this.#pool.clear();
  }

  /** One transaction pays one address once. */
  #placeOf({ txHash, subaddress: { major, minor } }: IncomingPayment): number | undefined {
    if (this.#receipts.length === 0) return undefined;
    return this.#receipts.placesOf(txHash).find((place) => {
      if (this.#marks[place] === FORGOTTEN) return false;
      const receiver = this.#receipts.receiverAt(place);
      return receiver.major === major && receiver.minor === minor;
    });
  }
}

function* lostOf(receipts: () => Receipts, marks: () => Uint8Array): Generator<IncomingPayment> {
  for (let place = 0; place < receipts().length; place++)
    if (marks()[place] === LOST) yield receipts().at(place);
}
