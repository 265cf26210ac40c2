/** Transactions that were scanned alone, ahead of the blocks, and are not in the block in which they were. */
import { toHex } from "@anulo/protocol";
import type { BlocksChange } from "../changes.ts";
import { dependentIds } from "../outputs/block-outputs.ts";
import type { WalletState } from "../state.ts";

export type ScanRange = {
  /** Transactions of blocks below this height are not looked at. */
  readonly fromHeight: number;
  /** Whether those are left out that pay a miner. */
  readonly skipsCoinbase: boolean;
};

/**
 * Ids of the wallet's transactions that none of the blocks has that a scan has found, though it has looked at theirs:
 * these were reorganised since. Nothing is asked of a block of which the first transactions came before, nor of a
 * transaction that depends on another; what the blocks undo by themselves is not among them.
 */
export function missingIn(
  blocks: BlocksChange,
  state: Readonly<WalletState>,
  { fromHeight, skipsCoinbase }: ScanRange,
): Uint8Array[] {
  const { outputs, incoming, outgoing, height, partId } = state;
  const first = Math.max(fromHeight, blocks.fromHeight, height + (partId.length > 0 ? 1 : 0));
  const end = blocks.fromHeight + blocks.count;
  if (first >= end) return [];
  const places = outputs.placesFrom(first);
  const receiptPlaces = incoming.placesFrom(first);
  const payments = outgoing.confirmedFrom(first);
  if (places.length + receiptPlaces.length + payments.length === 0) return [];
  const foundIds = dependentIds(outputs, places);
  for (const { txHash } of blocks.transactions) foundIds.add(toHex(txHash));
  const missing = new Map<string, Uint8Array>();
  const look = (txHash: Uint8Array) => {
    const id = toHex(txHash);
    if (!foundIds.has(id)) missing.set(id, txHash);
  };
  for (const place of places)
    if (outputs.heightOf(place) < end && !(skipsCoinbase && outputs.at(place)!.coinbase))
      look(outputs.txHashAt(place));
  for (const place of receiptPlaces) {
    const { height: at, coinbase, txHash } = incoming.at(place);
    if (at < end && !(skipsCoinbase && coinbase)) look(txHash);
  }
  for (const payment of payments) if (payment.height < end) look(payment.txHash);
  return [...missing.values()];
}
