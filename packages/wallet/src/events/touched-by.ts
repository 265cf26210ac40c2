/** What of a ledger a change may touch, as far as events are concerned. */
import { toHex } from "@anulo/protocol";
import type { WalletChange } from "../changes.ts";
import type { WalletState } from "../state.ts";

/** Blocks are undone to be scanned again: nothing has happened in the chain. */
export function isForgetting(change: WalletChange): boolean {
  return (
    change.kind === "reset" ||
    change.kind === "backgroundEnds" ||
    (change.kind === "blocks" && change.count === 0)
  );
}

/** Height from which on blocks are undone; infinite where none are. */
export function undoneFrom(change: WalletChange, { background }: Pick<WalletState, "background">): number {
  if (change.kind === "reset") return 0;
  if (change.kind === "backgroundEnds") return background?.fromHeight ?? Number.POSITIVE_INFINITY;
  return change.kind === "blocks" ? change.fromHeight : Number.POSITIVE_INFINITY;
}

/** Tells the ids of the transactions that a change of key images looks at again; undefined where there are none. */
export function learntBy(change: WalletChange): ((txHash: Uint8Array) => boolean) | undefined {
  if (change.kind !== "keyImages" || change.transactions.length === 0) return undefined;
  const ids = new Set<string>();
  // All payments of the wallet are asked for: nearly none is looked up by its id.
  const starts = new Set<number>();
  for (const { txHash } of change.transactions) {
    ids.add(toHex(txHash));
    starts.add(startOf(txHash));
  }
  return (txHash) => starts.has(startOf(txHash)) && ids.has(toHex(txHash));
}

const startOf = (txHash: Uint8Array): number =>
  (txHash[0]! << 24) | (txHash[1]! << 16) | (txHash[2]! << 8) | txHash[3]!;

/** Ids of the transactions of ours that a change may move. */
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
