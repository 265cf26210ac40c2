import { readIdentifiedTransaction, transactionWeight } from "@anulo/protocol";
import { BadSource, inSource, type SourceBlock } from "@anulo/storage";
import type { FetchedTransaction, IncomingBlock } from "../chain/incoming-block.ts";
import { placeOf } from "./source-block.ts";

export interface TakenBlock {
  readonly incoming: IncomingBlock;
  /** Whether the block is known to belong to the chain. */
  readonly isKnown: boolean;
  /** Pruning seed of our database; 0: everything is kept. */
  readonly pruningSeed: number;
}

/**
 * The transactions of a block in the form the importer takes. Pruned ones are accepted only for a known block, since
 * their proofs cannot be checked, and only into a pruned database: BadSource otherwise. The weight of a pruned
 * transaction cannot be computed for every type. For a known block only the sum matters, which is confirmed with its
 * id: so the rest of the block's weight is assigned to the first pruned transaction.
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

/**
 * The part of a block's weight that remains for its pruned transactions; the weights of the others follow from their
 * bytes.
 */
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
    (remaining, weight) => remaining - weight,
    block.weight - transactionWeight(minerTransaction),
  );
  if (rest < 0) throw new BadSource(path, `${placeOf(block)}: its transactions are heavier than it is`);
  return rest;
}
