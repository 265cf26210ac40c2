/** Changes that bring or take back much, as several: to apply one holds the event loop. */
import type { BlocksChange } from "./messages.ts";

/** Outputs and transactions of one change; those of a single block may be more. */
const MOST_ITEMS = 500;

/**
 * The same blocks in order, in as many changes as their transactions need. `change` has the ids of all of them; with
 * `keepsLastId` each part has that of its last block alone. None is without: a scan goes on from there after a crash.
 */
export function* inParts(change: BlocksChange, keepsLastId: boolean): Generator<BlocksChange> {
  for (const part of divided(change)) yield keepsLastId ? { ...part, ids: part.ids.slice(-1) } : part;
}

function* divided(change: BlocksChange): Generator<BlocksChange> {
  const { transactions, fromHeight, count } = change;
  const end = fromHeight + count;
  let [begin, from, items] = [fromHeight, 0, 0];
  for (const [i, { height, received }] of transactions.entries()) {
    if (items >= MOST_ITEMS && height > transactions[i - 1]!.height) {
      yield partOf(change, { begin, end: height, transactions: transactions.slice(from, i) });
      [begin, from, items] = [height, i, 0];
    }
    items += 1 + received.length;
  }
  yield partOf(change, { begin, end, transactions: transactions.slice(from) });
}

/** The blocks from one height to before another. */
function partOf(
  change: BlocksChange,
  part: { readonly begin: number; readonly end: number } & Pick<BlocksChange, "transactions">,
): BlocksChange {
  const { begin, end, transactions } = part;
  const ids = change.ids.slice(begin - change.fromHeight, end - change.fromHeight);
  return { ...change, fromHeight: begin, count: end - begin, ids, transactions };
}

/**
 * Heights, descending, from which on blocks are undone one part after the other before all from a height on are, given
 * the heights of a wallet's outputs in the order in which it found them.
 */
export function undoneInParts(
  outputs: { readonly count: number; heightOf(place: number): number },
  fromHeight: number,
): number[] {
  const heights: number[] = [];
  let [lowest, items] = [Number.POSITIVE_INFINITY, 0];
  for (let place = outputs.count - 1; place >= 0; place--) {
    const height = outputs.heightOf(place);
    if (height <= fromHeight) break;
    if (items >= MOST_ITEMS && height < lowest) {
      heights.push(lowest);
      items = 0;
    }
    lowest = Math.min(lowest, height);
    items += 1;
  }
  return heights;
}
