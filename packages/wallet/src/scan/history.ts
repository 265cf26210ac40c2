/** How wallet and node find the last block that both have. */
import { equalBytes } from "@anulo/protocol";
import type { RecentBlocks } from "../state.ts";
import type { BlocksChange } from "./messages.ts";

/** Number of ids stored for finding the point where two chains fork; a deeper reorganisation needs a rescan. */
export const RECENT_BLOCKS = 20_000;

/** Number of newest ids without gaps, before they become sparse. Source: wallet2.cpp `get_short_chain_history`. */
const DENSE = 10;

/** Ids of known blocks, newest first: ten consecutive ones, then ever farther apart; the genesis block last. */
export function shortHistory({ ids }: RecentBlocks, genesis: Uint8Array): Uint8Array[] {
  const history: Uint8Array[] = [];
  let step = 1;
  for (let at = ids.length - 1; at >= 0; at -= step) {
    history.push(ids[at]!);
    if (history.length >= DENSE) step *= 2;
  }
  return [...history, genesis];
}

/** The batch without the blocks at its start that the wallet has scanned already. */
export function trimKnown({ offset, ids }: RecentBlocks, batch: BlocksChange): BlocksChange {
  if (batch.ids.length < batch.count) return batch;
  let count = 0;
  while (count < batch.count) {
    const mine = ids[batch.fromHeight + count - offset];
    if (mine === undefined || !equalBytes(mine, batch.ids[count]!)) break;
    count += 1;
  }
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
