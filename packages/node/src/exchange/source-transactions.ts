import { readIdentifiedTransaction, transactionWeight } from "@anulo/protocol";
import { BadSource, inSource, type SourceBlock } from "@anulo/storage";
import type { FetchedTransaction, IncomingBlock } from "../chain/incoming-block.ts";
import { placeOf } from "./source-block.ts";

export interface TakenBlock {
  readonly incoming: IncomingBlock;
  /** Whether it is known to be of the chain. */
  readonly isKnown: boolean;
  /** Of our database; 0: everything is kept. */
  readonly pruningSeed: number;
}

/**
 * The transactions of a block as importers take them. Those that were pruned are taken for a known block alone, since
 * nobody can check what is not there, and into a pruned database: BadSource for others. Which weight each of them had
 * cannot be told of every kind; the block's is confirmed with its id, and nothing else is asked of a known block: what
 * the whole ones leave of it is ascribed to the first of them.
 */
export function fetchedTransactions(
  path: string,
  block: SourceBlock,
  { incoming, isKnown, pruningSeed }: TakenBlock,
): FetchedTransaction[] {
  const isPruned = block.transactions.some((transaction) => "pruned" in transaction);
  if (isPruned) checkUsable(path, block, { isKnown, pruningSeed });
  let rest = isPruned ? weightLeft(path, block, incoming) : 0;
  return block.transactions.map((transaction) => {
    if ("blob" in transaction) return transaction.blob;
    const weight = rest;
    rest = 0;
    return { ...transaction, weight };
  });
}

function checkUsable(
  path: string,
  block: SourceBlock,
  { isKnown, pruningSeed }: Omit<TakenBlock, "incoming">,
): void {
  if (!isKnown) {
    throw new BadSource(
      path,
      `${placeOf(block)}: its signatures were pruned, so that it cannot be verified, and it is not known beforehand: ` +
        "start the node, which fetches it and what follows from peers",
    );
  }
  if (pruningSeed === 0) {
    throw new BadSource(
      path,
      `${placeOf(block)}: it was pruned, and our database is not: give an empty data folder`,
    );
  }
}

/** What a block's weight leaves for its pruned transactions; the weights of the others follow from their bytes. */
function weightLeft(
  path: string,
  block: SourceBlock,
  { block: { minerTransaction } }: IncomingBlock,
): number {
  if (block.weight === undefined) throw new BadSource(path, `${placeOf(block)}: its weight is missing`);
  const readWeight = (blob: Uint8Array) => readIdentifiedTransaction(blob, { withProofs: false }).weight;
  const whole = block.transactions.map((transaction) =>
    "blob" in transaction ? inSource(path, placeOf(block), () => readWeight(transaction.blob)) : 0,
  );
  const rest = whole.reduce(
    (left, weight) => left - weight,
    block.weight - transactionWeight(minerTransaction),
  );
  if (rest < 0) throw new BadSource(path, `${placeOf(block)}: its transactions are heavier than it is`);
  return rest;
}
