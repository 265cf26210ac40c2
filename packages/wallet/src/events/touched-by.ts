/** The parts of a ledger that a change may touch, as far as events are concerned. */
import { toHex } from "@anulo/protocol";
import type { WalletChange } from "../changes.ts";
import type { WalletState } from "../state.ts";

/** Whether blocks are undone only to be scanned again, while the chain has not changed. */
export function isForgetting(change: WalletChange): boolean {
  return (
    change.kind === "reset" ||
    change.kind === "backgroundEnds" ||
    (change.kind === "blocks" && change.count === 0)
  );
}

/** Height from which on blocks are undone; Infinity if none are. */
export function undoneFrom(change: WalletChange, { background }: Pick<WalletState, "background">): number {
  if (change.kind === "reset") return 0;
  if (change.kind === "backgroundEnds") return background?.fromHeight ?? Number.POSITIVE_INFINITY;
  return change.kind === "blocks" ? change.fromHeight : Number.POSITIVE_INFINITY;
}

/**
 * Returns a test for the ids of the transactions that a change of key images examines again; undefined if there are
 * none.
 */
export function learntBy(change: WalletChange): ((txHash: Uint8Array) => boolean) | undefined {
  if (change.kind !== "keyImages" || change.transactions.length === 0) return undefined;
  const ids = new Set<string>();
  // The test runs for all payments of the wallet, so most ids must be excluded without looking them up.
  const starts = new Set<number>();
  for (const { txHash } of change.transactions) {
    ids.add(toHex(txHash));
    starts.add(startOf(txHash));
  }
  return (txHash) => starts.has(startOf(txHash)) && ids.has(toHex(txHash));
}

const startOf = (txHash: Uint8Array): number =>
  (txHash[0]! << 24) | (txHash[1]! << 16) | (txHash[2]! << 8) | txHash[3]!;

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
    default:
      return [];
  }
}
