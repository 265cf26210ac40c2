/** Some receipts as they were at one moment, each read when it is needed. */
import type { SubaddressIndex } from "../outputs/owned-output.ts";
import type { IncomingPayment } from "../payment.ts";
import type { ReceiptView } from "./receipt-pages.ts";
import { readReceipt, readReceiver } from "./receipt-record.ts";
import { Selected } from "./records.ts";

/** Receipts of one moment. */
export class SelectedReceipts extends Selected<IncomingPayment> {
  readonly #view: ReceiptView;
  readonly #places: ArrayLike<number>;

  constructor(view: ReceiptView, places: ArrayLike<number>) {
    super(places.length, (index) => {
      const { chunk, at } = view.at(places[index]!);
      return readReceipt(chunk, at);
    });
    this.#view = view;
    this.#places = places;
  }

  /** The addresses that received them. */
  *receivers(): Generator<SubaddressIndex> {
    for (let index = 0; index < this.length; index++) {
      const { chunk, at } = this.#view.at(this.#places[index]!);
      yield readReceiver(chunk, at);
    }
  }
}
