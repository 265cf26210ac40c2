/** How far one of our transactions has come, as events report it. */
import type { OutgoingPayment } from "../state.ts";
import type { WalletEventType } from "./event.ts";

export type TransferStage =
  | "none"
  | "forgotten"
  | "signed"
  | "sent"
  | "seen"
  | "missing"
  | "failed"
  | "mined";

export function stageOf(payment: OutgoingPayment | undefined): TransferStage {
  if (payment === undefined) return "none";
  if (payment.state === "confirmed") return "mined";
  if (payment.state !== "pending") return payment.state;
  // A transaction not created here is known because it was seen in the pool.
  return payment.isSeen === true || payment.blob === undefined ? "seen" : "sent";
}

/** The event that reports that a transaction has reached a stage. */
const eventOfStage: Readonly<Record<TransferStage, WalletEventType | undefined>> = {
  none: "transfer_failed",
  forgotten: undefined,
  signed: "transfer_signed",
  sent: "transfer_sent",
  seen: "transfer_seen",
  missing: "transfer_missing",
  failed: "transfer_failed",
  mined: "transfer_mined",
};

/** Undefined if there is nothing to report. */
export function newsOf(before: TransferStage, after: TransferStage): WalletEventType | undefined {
  return before === after ? undefined : eventOfStage[after];
}
