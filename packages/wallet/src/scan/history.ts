/** How wallet and node find the last block that both have. */
import type { RecentBlocks } from "../packed/block-ids.ts";
import type { BlocksChange } from "./messages.ts";

/** Number of ids stored for finding the point where two chains fork; a deeper reorganisation needs a rescan. */
export const RECENT_BLOCKS = 20_000;

/** Ids of known blocks, newest first: ten consecutive ones, then ever farther apart; the genesis block last. */
export function shortHistory(recent: RecentBlocks, genesis: Uint8Array): readonly Uint8Array[] {
  return recent.historyFrom(genesis);
}

/** The batch without the blocks at its start that the wallet has scanned already. */
export function trimKnown(recent: RecentBlocks, batch: BlocksChange): BlocksChange {
  if (batch.ids.length < batch.count) return withoutKnownRest(recent, batch);
  let count = 0;
  while (count < batch.count && recent.has(batch.fromHeight + count, batch.ids[count]!)) count += 1;
  const { restOfId, partId, ...rest } = batch;
  const end = batch.fromHeight + batch.count;
  const hasPart = partId !== undefined && !recent.has(end, partId);
  if (count === 0 && hasPart === (partId !== undefined)) return batch;
  const fromHeight = batch.fromHeight + count;
  const toHeight = hasPart ? end : end - 1;
  return {
    ...rest,
    fromHeight,
    count: batch.count - count,
    ids: batch.ids.slice(count),
    transactions: batch.transactions.filter(({ height }) => height >= fromHeight && height <= toHeight),
    ...(count === 0 && (hasPart || batch.count > 0) && restOfId !== undefined && { restOfId }),
    ...(hasPart && { partId }),
  };
}

/** The same without the rest of a first block that the wallet has scanned already, whose beginning was left out. */
function withoutKnownRest(recent: RecentBlocks, batch: BlocksChange): BlocksChange {
  const { restOfId, ...rest } = batch;
  if (restOfId === undefined || !recent.has(batch.fromHeight, restOfId)) return batch;
  const fromHeight = batch.fromHeight + 1;
  const transactions = batch.transactions.filter(({ height }) => height >= fromHeight);
  return { ...rest, fromHeight, count: batch.count - 1, transactions };
}
