/**
 * Payments that scanning again has not found, told some with each change: they may be all that a wallet had received.
 */
import type { IncomingPayment } from "../state.ts";
import { paymentEvent, type WalletEvent } from "./event.ts";

/** Maximum number told with one change. */
const MOST_WITH_ONE = 500;

export class LostPayments {
  #left: Generator<IncomingPayment> | undefined;
  #next: IncomingPayment | undefined;

  /** Whether some are still to be told. */
  get hasMore(): boolean {
    return this.#next !== undefined;
  }

  /** Goes on with those of some that are in blocks from a height on. */
  begin(payments: Generator<IncomingPayment>, fromHeight: number): void {
    this.#left = above(payments, fromHeight);
    this.#advance();
  }

  forget(): void {
    this.#left = undefined;
    this.#next = undefined;
  }

  /** Tells the next of them, in order. */
  *tell(most = MOST_WITH_ONE): Generator<WalletEvent> {
    for (let count = 0; count < most && this.#next !== undefined; count++) {
      const payment = this.#next;
      this.#advance();
      yield paymentEvent("payment_undone", payment, { reason: "rescan" });
    }
  }

  #advance(): void {
    const step = this.#left?.next();
    if (step === undefined || step.done === true) this.forget();
    else this.#next = step.value;
  }
}

function* above(payments: Iterable<IncomingPayment>, height: number): Generator<IncomingPayment> {
  for (const payment of payments) if (payment.height >= height) yield payment;
}
