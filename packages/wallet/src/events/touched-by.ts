/** The parts of a ledger that a change may touch, as far as events are concerned. */
import { toHex } from "@anulo/protocol";
import { isReorganisation, undoneBy, type WalletChange } from "../changes.ts";
import { paymentsIn, receiptsIn } from "../ledger/detach-blocks.ts";
import type { IncomingPayment, OutgoingPayment, WalletState } from "../state.ts";

/** Whether blocks are undone only to be scanned again, while the chain has not changed. */
export function isForgetting(change: WalletChange): boolean {
  return (
    change.kind === "reset" ||
    change.kind === "backgroundEnds" ||
    (change.kind === "blocks" && !isReorganisation(change))
  );
}

/** Whether a change may bring payments in blocks, or has all of them found again. */
export const mayFindAgain = ({ kind }: WalletChange): boolean =>
  kind === "blocks" || kind === "transactions" || kind === "reset";

/** Height from which on blocks are undone; Infinity if none are. */
function undoneFrom(change: WalletChange, state: Readonly<WalletState>): number {
  if (change.kind === "reset") return 0;
  if (change.kind === "backgroundEnds") return state.background?.fromHeight ?? Number.POSITIVE_INFINITY;
  return change.kind === "blocks" ? undoneBy(change, state) : Number.POSITIVE_INFINITY;
}

/** Our transactions that a change takes out of their blocks. */
export function transfersUndoneBy(change: WalletChange, state: Readonly<WalletState>): OutgoingPayment[] {
  if (change.kind === "blocks" && change.undone !== undefined)
    return paymentsIn(state, change.fromHeight, change.undone);
  const from = undoneFrom(change, state);
  return from < Number.POSITIVE_INFINITY ? state.outgoing.confirmedFrom(from) : [];
}

/** The receipts that a change removes, or examines again, in their order. */
export function receiptsTakenBy(change: WalletChange, state: Readonly<WalletState>): IncomingPayment[] {
  const { incoming } = state;
  if (change.kind === "blocks" && change.undone !== undefined)
    return receiptsIn(incoming, change.fromHeight, change.undone).map((place) => incoming.at(place));
  const from = undoneFrom(change, state);
  const places = new Set(from < Number.POSITIVE_INFINITY ? incoming.placesFrom(from) : []);
  if (change.kind === "keyImages")
    for (const { txHash } of change.transactions)
      for (const place of incoming.placesOf(txHash)) places.add(place);
  // Those that were found ahead of the blocks, in another block.
  if (change.kind === "blocks" || change.kind === "transactions")
    for (const { txHash, height } of change.transactions)
      for (const place of incoming.placesOf(txHash))
        if (incoming.lockAt(place).height !== height) places.add(place);
  return [...places].sort((a, b) => a - b).map((place) => incoming.at(place));
}

/** Ids of our transactions whose state a change may alter. */
export function idsOf(change: WalletChange): string[] {
  switch (change.kind) {
    case "blocks":
    case "transactions":
    case "keyImages":
      return change.transactions.map(({ txHash }) => toHex(txHash));
    case "outgoing":
      return [toHex(change.payment.txHash)];
    case "outgoingState":
    case "discardOutgoing":
      return [change.txHash];
    case "intent":
      return [
        ...(change.payments ?? []).map(({ payment }) => toHex(payment.txHash)),
        ...(change.unsent ?? []),
      ];
    case "takenOver":
      return (change.payments ?? []).map(({ txHash }) => toHex(txHash));
    default:
      return [];
  }
}

/** The height up to which the confirmations of an item in a block at some height have been reported. */
export function reportedTo(
  { height, rescanTo, reorganisedFrom }: Readonly<WalletState>,
  itemHeight: number,
): number {
  // What was found since a reorganisation has had no more blocks on it, what was found before it has.
  return reorganisedFrom > 0 && itemHeight >= reorganisedFrom ? height : Math.max(height, rescanTo);
}
