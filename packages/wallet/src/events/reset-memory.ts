/**
 * What has been reported of a wallet's payments, as it is remembered when all blocks are scanned again: read in steps
 * before that, since it takes a look at each payment, while other changes may come.
 */
import { fromHex, toHex } from "@anulo/protocol";
import type { IncomingPayment, WalletState } from "../state.ts";
import { RememberedPayments } from "./remembered-payments.ts";
import { stageOf, type TransferStage } from "./transfer-stage.ts";

/** Whether a payment is our own change: a wallet that can't see spends still knows which transactions it sent. */
export function isOwnChange(
  { outgoing }: Pick<Readonly<WalletState>, "outgoing">,
  { txHash, subaddress }: IncomingPayment,
): boolean {
  const own = outgoing.get(toHex(txHash));
  return own !== undefined && own.account === subaddress.major;
}

/** What is remembered already. */
export type Remembered = {
  readonly payments: RememberedPayments;
  readonly transfers: ReadonlyMap<string, TransferStage>;
};

export class ResetMemory {
  readonly #state: Readonly<WalletState>;
  readonly #before: Remembered;
  readonly #touchedIds = new Set<string>();
  #removeCount = 0;
  #payments = new RememberedPayments();
  #transfers = new Map<string, TransferStage>();
  #reading: Generator<void> | undefined;

  constructor(state: Readonly<WalletState>, before: Remembered) {
    this.#state = state;
    this.#before = before;
  }

  /** Reads everything; between two steps the ledger may change, as long as `touch` is told. */
  *read(): Generator<void> {
    this.#reading = this.#readAll();
    for (;;) {
      if (this.#reading.next().done === true) return;
      yield;
    }
  }

  /** Tells that a change has touched a transaction (hex id): its payment, or what it was taken for. */
  touch(id: string): void {
    this.#touchedIds.add(id);
  }

  /** What is remembered from now on: without `read` before it, all is read here. */
  finish(): { readonly payments: RememberedPayments; readonly transfers: Map<string, TransferStage> } {
    const { incoming, pool } = this.#state;
    if (this.#removeCount !== incoming.removeCount) this.#reading = undefined;
    this.#reading ??= this.#readAll();
    while (this.#reading.next().done !== true);
    for (const id of this.#touchedIds) {
      this.#readTransfer(id);
      for (const place of incoming.placesOf(fromHex(id))) this.#readReceipt(incoming.at(place));
    }
    for (const payment of [...this.#before.payments.waiting(), ...pool])
      if (!isOwnChange(this.#state, payment) && !this.#payments.has(payment)) this.#payments.add(payment);
    return { payments: this.#payments, transfers: this.#transfers };
  }

  *#readAll(): Generator<void> {
    const { incoming, outgoing } = this.#state;
    this.#removeCount = incoming.removeCount;
    this.#payments = new RememberedPayments();
    this.#transfers = new Map();
    for (const [id, stage] of this.#before.transfers) {
      this.#transfers.set(id, stage);
      yield;
    }
    for (const id of [...outgoing.keys()]) {
      this.#readTransfer(id);
      yield;
    }
    for (const payment of this.#before.payments.lost()) {
      this.#payments.add(payment);
      yield;
    }
    // Those that are found meanwhile are read as well.
    for (let place = 0; place < incoming.length; place++) {
      if (incoming.removeCount !== this.#removeCount) return;
      this.#readReceipt(incoming.at(place));
      yield;
    }
  }

  #readTransfer(id: string): void {
    const stage = stageOf(this.#state.outgoing.get(id));
    const isGone = stage === "none" || stage === "forgotten";
    const lastStage = isGone ? (this.#before.transfers.get(id) ?? stage) : stage;
    if (lastStage === "none") this.#transfers.delete(id);
    else this.#transfers.set(id, lastStage);
  }

  /** Change that was recognised as such was not reported. */
  #readReceipt(payment: IncomingPayment): void {
    if (isOwnChange(this.#state, payment)) this.#payments.forget(payment);
    else this.#payments.add(payment);
  }
}
