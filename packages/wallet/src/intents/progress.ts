/** The progress of a payment, from the wallet's view of its transactions. */
import { toHex } from "@anulo/protocol";
import type { IntentState } from "@anulo/rpc";
import { DEEP } from "../ledger/apply-blocks.ts";
import type { OwnedOutput } from "../outputs/owned-output.ts";
import type { Intent, OutgoingPayment, WalletState } from "../state.ts";
import { spendingHeight } from "../unlock.ts";

/** The parts of a wallet that determine the progress. */
export type Seen = {
  readonly state: Readonly<Pick<WalletState, "outgoing" | "height">>;
  outputOf(keyImage: Uint8Array): OwnedOutput | undefined;
};

/** `height`: of the containing block, 0 if there is none. */
export type TransactionProgress = {
  readonly txHash: Uint8Array;
  readonly state: IntentState;
  readonly height: number;
};

/** From the least advanced; transactions that can't be mined any more come first. */
const order = ["abandoned", "signed", "sent", "seen", "mined", "final"] as const;

/** Returns the state of a payment, which is that of its least advanced transaction. */
export function progressOf(
  { outcome }: Intent,
  view: Seen,
): { readonly state: IntentState; readonly transactions: readonly TransactionProgress[] } {
  if (outcome === undefined) return { state: "planned", transactions: [] };
  const unknown = outcome.kind === "handedOut" ? "signed" : "sent";
  const transactions = outcome.txHashes.map((txHash): TransactionProgress => {
    const payment = view.state.outgoing.get(toHex(txHash));
    if (payment === undefined) return { txHash, state: unknown, height: 0 };
    return { txHash, state: stateOf(payment, view), height: payment.height };
  });
  if (outcome.kind === "refused") return { state: "failed", transactions };
  const states = new Set<IntentState>(transactions.map(({ state }) => state));
  return { state: order.find((state) => states.has(state)) ?? "planned", transactions };
}

function stateOf(payment: OutgoingPayment, view: Seen): IntentState {
  const { height } = view.state;
  if (payment.state === "confirmed") return payment.height + DEEP <= height ? "final" : "mined";
  if (payment.keyImages.some((image) => isSpentForGood(view.outputOf(image), height))) return "abandoned";
  if (payment.state === "pending") return payment.isSeen === true ? "seen" : "sent";
  return payment.state === "signed" ? "signed" : "sent";
}

/**
 * True if a block that no reorganisation undoes has spent the output: no other transaction that spends it can be mined.
 */
function isSpentForGood(output: OwnedOutput | undefined, height: number): boolean {
  const spentAt = output && spendingHeight(output);
  return spentAt !== undefined && spentAt + DEEP <= height;
}
