/** Changes that bring or take back much, as several: to apply one holds the event loop. */
import type { BlocksChange } from "./messages.ts";

/** Outputs and transactions of one change. */
const MOST_ITEMS = 500;
/** Inputs that take as long to apply as an output, if all of them spend outputs of the wallet. */
const INPUTS_PER_ITEM = 4;

/**
 * The same blocks in order, in as many changes as their transactions need. `change` has the ids of all of them; with
 * `keepsLastId` each part has that of its last block alone. None that has a block is without: a scan goes on from there
 * after a crash.
 */
export function* inParts(
  change: BlocksChange,
  keepsLastId: boolean,
  mostItems = MOST_ITEMS,
): Generator<BlocksChange> {
  for (const part of divided(change, mostItems))
    yield keepsLastId ? { ...part, ids: part.ids.slice(-1) } : part;
}

/** Where a part begins or ends: at a height, and at an index among the transactions. */
type Cut = { readonly height: number; readonly index: number };

function* divided(change: BlocksChange, mostItems: number): Generator<BlocksChange> {
  const { transactions, fromHeight, count } = change;
  let begin: Cut = { height: fromHeight, index: 0 };
  let items = 0;
  for (const [index, { height, received, inputs }] of transactions.entries()) {
    if (items >= mostItems) {
      const end = { height, index };
      yield partOf(change, begin, end);
      [begin, items] = [end, 0];
    }
    items += 1 + received.length + inputs.length / INPUTS_PER_ITEM;
  }
  yield partOf(change, begin, { height: fromHeight + count, index: transactions.length });
}

/** What is between two cuts, which may be amid blocks. */
function partOf(change: BlocksChange, begin: Cut, end: Cut): BlocksChange {
  const { fromHeight, transactions } = change;
  const isInsideBlock = ({ height, index }: Cut) => index > 0 && transactions[index - 1]!.height === height;
  const idAt = ({ height }: Cut) => change.ids[height - fromHeight]!;
  return {
    ...change,
    fromHeight: begin.height,
    count: end.height - begin.height,
    ids: change.ids.slice(begin.height - fromHeight, end.height - fromHeight),
    transactions: transactions.slice(begin.index, end.index),
    ...(isInsideBlock(begin) && { restOfId: idAt(begin) }),
    ...(isInsideBlock(end) && { partId: idAt(end) }),
  };
}

/**
 * Heights, descending, from which on blocks are undone one part after the other before all from one height to before
 * another are, by what they have brought.
 */
export function undoneInParts(
  outputs: { countsByHeight(from: number, to: number): Uint32Array },
  { fromHeight, toHeight }: { readonly fromHeight: number; readonly toHeight: number },
): number[] {
  const counts = outputs.countsByHeight(fromHeight, toHeight);
  const heights: number[] = [];
  let [lowest, items] = [toHeight, 0];
  for (let height = toHeight - 1; height > fromHeight; height--) {
    const here = counts[height - fromHeight]!;
    if (here === 0) continue;
    if (items >= MOST_ITEMS) {
      heights.push(lowest);
      items = 0;
    }
    lowest = height;
    items += here;
  }
  return heights;
}
