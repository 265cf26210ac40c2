/** How far a transaction of ours has come, as events tell it. */
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
  // What was not made here is known because the pool has shown it.
  return payment.isSeen === true || payment.blob === undefined ? "seen" : "sent";
}

/** What is told when a transaction comes to a stage. */
const told: Readonly<Record<TransferStage, WalletEventType | undefined>> = {
  none: "transfer_failed",
  forgotten: undefined,
  signed: "transfer_signed",
  sent: "transfer_sent",
  seen: "transfer_seen",
  missing: "transfer_missing",
  failed: "transfer_failed",
  mined: "transfer_mined",
};

/** Undefined where nothing is news. */
export function newsOf(before: TransferStage, after: TransferStage): WalletEventType | undefined {
  return before === after ? undefined : told[after];
}
