/** How wallet and node find the last block that both have. */
import type { RecentBlocks } from "../packed/block-ids.ts";
import type { BlocksChange } from "./messages.ts";

/** Number of ids stored for finding the point where two chains fork; a deeper reorganisation needs a rescan. */
export const RECENT_BLOCKS = 20_000;

/** Ids of known blocks, newest first: ten consecutive ones, then ever farther apart; the genesis block last. */
export function shortHistory({ history }: RecentBlocks, genesis: Uint8Array): Uint8Array[] {
  return [...history, genesis];
}

/** The batch without the blocks at its start that the wallet has scanned already. */
export function trimKnown(recent: RecentBlocks, batch: BlocksChange): BlocksChange {
  if (batch.ids.length < batch.count) return batch;
  let count = 0;
  while (count < batch.count && recent.has(batch.fromHeight + count, batch.ids[count]!)) count += 1;
  if (count === 0) return batch;
  const fromHeight = batch.fromHeight + count;
  return {
    ...batch,
    fromHeight,
    count: batch.count - count,
    ids: batch.ids.slice(count),
    transactions: batch.transactions.filter(({ height }) => height >= fromHeight),
  };
}
