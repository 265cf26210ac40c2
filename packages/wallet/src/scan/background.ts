/**
 * What a wallet found without its spend secret, once that is back. Each transaction is kept as it was found, with the
 * key images of its inputs, so that its spends are recognised then without a question to the node: which outputs are
 * spent is not told to it. Source: wallet2.cpp `process_background_cache`.
 */
import type { ScannedTransaction } from "../changes.ts";
import type { BackgroundScan, WalletState } from "../state.ts";
import { workThreads } from "../threads/work-threads.ts";
import type { SpendKeys } from "./find-outputs.ts";
import type { BlocksChange } from "./messages.ts";

/** The state of a wallet that scanned without its spend secret. */
export type FoundInBackground = Pick<WalletState, "height" | "recent" | "lastBlockReward"> & {
  readonly background: BackgroundScan;
};

/** Of one change: some 10 ms of work. */
const TRANSACTIONS_PER_CHANGE = 500;

/** The blocks that were scanned, as they would have been found with the spend secret. */
export async function blocksOfBackground(
  { height, recent, lastBlockReward, background }: FoundInBackground,
  keys: SpendKeys,
): Promise<BlocksChange[]> {
  const { fromHeight } = background;
  const transactions = await workThreads.map("findKeyImages", background.transactions, { keys });
  const changes: BlocksChange[] = [];
  for (let at = 0, from = fromHeight; from < height; ) {
    const end = endOfRun(transactions, at);
    const next = transactions[end]?.height ?? height;
    changes.push({
      kind: "blocks",
      fromHeight: from,
      count: next - from,
      ids: recent.ids.slice(Math.max(0, from - recent.offset), Math.max(0, next - recent.offset)),
      lastBlockReward,
      transactions: transactions.slice(at, end),
    });
    [at, from] = [end, next];
  }
  return changes;
}

/** Where a run of transactions ends that no block is cut by. */
function endOfRun(transactions: readonly ScannedTransaction[], at: number): number {
  let end = Math.min(at + TRANSACTIONS_PER_CHANGE, transactions.length);
  while (end < transactions.length && transactions[end]!.height === transactions[end - 1]!.height) end++;
  return end;
}
