/** Changes that bring or take back much, as several: to apply one holds the event loop. */
import { lastTransactions } from "../outputs/block-outputs.ts";
import type { OutputBook } from "../outputs/output-book.ts";
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
 * A step of undoing blocks: all from a height on; or, with `isDivided`, transactions of the block at the height, which is
 * the newest then, until few are left.
 */
export type UndoStep = { readonly height: number; readonly isDivided: boolean };

/**
 * The steps in which blocks are undone before all from one height to before another are, by what they have brought: the
 * change that undoes the rest follows.
 */
export function undoneInParts(
  outputs: { countsByHeight(from: number, to: number): Uint32Array },
  { fromHeight, toHeight }: { readonly fromHeight: number; readonly toHeight: number },
): UndoStep[] {
  const counts = outputs.countsByHeight(fromHeight, toHeight);
  const steps: UndoStep[] = [];
  let [lowest, items] = [toHeight, 0];
  for (let height = toHeight - 1; height >= fromHeight; height--) {
    const here = counts[height - fromHeight]!;
    if (here === 0) continue;
    const isDivided = here > MOST_ITEMS;
    if (items >= MOST_ITEMS || (isDivided && items > 0)) {
      steps.push({ height: lowest, isDivided: false });
      items = 0;
    }
    if (isDivided) steps.push({ height, isDivided });
    lowest = height;
    items += Math.min(here, MOST_ITEMS);
  }
  return steps;
}

/** Ids of the transactions of the newest block, which is at a height, to be undone one list after the other. */
export function* partsOfBlock(outputs: OutputBook, height: number): Generator<readonly Uint8Array[]> {
  for (;;) {
    const ids = lastTransactions(outputs, height, MOST_ITEMS);
    if (ids.length === 0) return;
    yield ids;
  }
}
