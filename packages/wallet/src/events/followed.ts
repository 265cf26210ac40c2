/** Payments in blocks, of which further events follow. */
import { toHex } from "@anulo/protocol";
import { DEEP } from "../ledger/apply-blocks.ts";
import type { IncomingPayment, OutgoingPayment } from "../state.ts";
import { paymentKey } from "./event.ts";
import type { Settling } from "./settling.ts";

/** Numbers of confirmations that are reported, beside the first. */
export const USUAL_CONFIRMATIONS: readonly number[] = [10];

export type Followed = Settling & {
  readonly isPayment: boolean;
  readonly item: IncomingPayment | OutgoingPayment;
};

export const keyOf = ({ isPayment, item }: Followed): string =>
  isPayment ? paymentKey(item as IncomingPayment) : toHex(item.txHash);

/** `marks`: numbers of confirmations that are reported. */
export const followedPayment = (item: IncomingPayment, marks: readonly number[]): Followed => ({
  isPayment: true,
  item,
  marks,
  tellsUnlock: true,
});

/** A transaction is followed until its change can be spent and no reorganisation undoes it. */
export const followedTransfer = (item: OutgoingPayment): Followed => ({
  isPayment: false,
  item,
  marks: [DEEP],
  tellsUnlock: item.change > 0n,
});
