/**
 * The meaning of a wallet's changes for programs that wait for payments, as events. Documented in
 * docs/wallet-events.md.
 */
import { toHex } from "@anulo/protocol";
import type { walletEventTypes } from "@anulo/rpc";
import { feePaid, paidBy } from "../payment.ts";
import type { IncomingPayment, OutgoingPayment } from "../state.ts";

type Field = string | number | bigint | boolean | readonly number[] | { readonly [name: string]: number };

/** An event before it has a number: its type and its data. Never a secret. */
export type WalletEvent = { readonly type: WalletEventType; readonly [field: string]: Field };

export type WalletEventType = (typeof walletEventTypes)[number];

/** Why a payment that was in a block is in none any more. */
export type UndoneReason = "reorganisation" | "own_change" | "rescan";

/** The key of a payment: one transaction pays one address once. */
export const paymentKey = ({ txHash, subaddress }: Pick<IncomingPayment, "txHash" | "subaddress">): string =>
  `${toHex(txHash)}/${subaddress.major}/${subaddress.minor}`;

/** An event about an incoming payment. */
export function paymentEvent(
  type: WalletEventType,
  payment: IncomingPayment,
  more: Readonly<Record<string, Field>> = {},
): WalletEvent {
  const { txHash, subaddress, amount, unlockTime, coinbase, paymentId, height } = payment;
  const { major, minor } = subaddress;
  return {
    type,
    tx_hash: toHex(txHash),
    subaddr_index: { major, minor },
    amount,
    ...(height > 0 && { height }),
    unlock_time: unlockTime,
    coinbase,
    ...(paymentId.some((byte) => byte !== 0) && { payment_id: paymentIdText(paymentId) }),
    ...more,
  };
}

/** A short payment id fills the first 8 of 32 bytes. */
function paymentIdText(paymentId: Uint8Array): string {
  return toHex(paymentId.subarray(8).some((byte) => byte !== 0) ? paymentId : paymentId.subarray(0, 8));
}

/** An event about a transaction that spends; `key`: the idempotency key of the call that created it. */
export function transferEvent(type: WalletEventType, payment: OutgoingPayment, key?: string): WalletEvent {
  const { txHash, account, subaddressIndices, change, height } = payment;
  return {
    type,
    tx_hash: toHex(txHash),
    account,
    subaddr_indices: subaddressIndices,
    amount: paidBy(payment),
    fee: feePaid(payment),
    change,
    ...(height > 0 && { height }),
    ...(key !== undefined && { idempotency_key: key }),
  };
}
