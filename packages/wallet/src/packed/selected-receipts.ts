/** Some receipts as they were at one moment, each read when it is needed. */
import type { SubaddressIndex } from "../outputs/owned-output.ts";
import type { IncomingPayment } from "../payment.ts";
import { readReceipt, readReceiver } from "./receipt-record.ts";
import { offsetOf, type RecordView, Selected } from "./records.ts";

/** Receipts of one moment. */
export class SelectedReceipts extends Selected<IncomingPayment> {
  readonly #view: RecordView;
  readonly #addresses: Uint32Array;

  constructor(view: RecordView, addresses: Uint32Array) {
    super(addresses.length, (index) =>
      readReceipt(view.chunkOf(addresses[index]!), offsetOf(addresses[index]!)),
    );
    this.#view = view;
    this.#addresses = addresses;
  }

  /** The addresses that received them. */
  *receivers(): Generator<SubaddressIndex> {
    for (const address of this.#addresses) yield readReceiver(this.#view.chunkOf(address), offsetOf(address));
  }
}
