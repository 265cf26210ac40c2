import { chainContext, type TransactionCandidate, verifyBlock, verifyHeader } from "@anulo/consensus";
import { equalBytes, hardForkAt, readTransaction, toHex, transactionWeight } from "@anulo/protocol";
import type { ChainWriter, RemovedBlock } from "@anulo/storage";
import { candidateOf } from "../pool/candidate.ts";
import { followFork } from "../pool/revalidate.ts";
import { type IncomingBlock, newBlock } from "./incoming-block.ts";
import { atOnce, type ChainParts, type ChangeParts, transact, transactInTurns } from "./parts.ts";
import { factsOfTransaction } from "./stored-transaction.ts";

/** Finds a transaction that a block names by its id (hexadecimal). */
export type FindTransaction = (key: string) => TransactionCandidate | undefined;

/** Looks in the pool, and among what was kept out of it. */
export function findInPool({ pool, setAside }: Pick<ChangeParts, "pool" | "setAside">): FindTransaction {
  return (key) => {
    const entry = pool.get(key);
    return entry === undefined ? setAside.get(key) : candidateOf(entry);
  };
}

/** Looks among what came with a block, then in the pool. */
export function findSuppliedOrInPool(
  parts: Pick<ChangeParts, "pool" | "setAside">,
  { transactions }: IncomingBlock,
): FindTransaction {
  const inPool = findInPool(parts);
  return transactions === undefined ? inPool : (key) => transactions.get(key) ?? inPool(key);
}

/** A transaction taken off the chain, as the rules judge it. */
function candidateOfBytes(hash: Uint8Array, blob: Uint8Array): TransactionCandidate {
  const transaction = readTransaction(blob);
  return { transaction, id: hash, weight: transactionWeight(transaction, blob.length) };
}

/**
 * Verifies a block on top of the main chain and writes it, inside the caller's write transaction.
 * Throws RuleViolation, or Unproven (from `demand`) while proofs are open.
 */
export function extendChain(
  { state, proofs, now }: ChangeParts,
  incoming: IncomingBlock,
  { find, demand = proofs.demand }: { find: FindTransaction; demand?: typeof proofs.demand },
): (writer: ChainWriter) => void {
  const { block } = incoming;
  const context = chainContext(state.view(), now());
  const header = verifyHeader(block, context);
  // Nobody has us look up rings for a block that took no work.
  demand(header.obligations);
  const found = block.transactionHashes.map((hash) => find(toHex(hash)));
  const verified = verifyBlock({ block, transactions: found }, context, header);
  demand(verified.obligations);
  const stored = newBlock(
    incoming,
    found.filter((tx) => tx !== undefined),
    verified,
  );
  return (writer) => {
    writer.appendBlock(stored);
    state.appended(stored);
  };
}

/** Adds a block to the top of the main chain and takes its transactions from the pool. */
export function addToMainChain(parts: ChainParts, incoming: IncomingBlock): void {
  const append = extendChain(parts, incoming, { find: findSuppliedOrInPool(parts, incoming) });
  transact(parts, (writer) => {
    append(writer);
    atOnce(takeFromPool(parts, writer, incoming));
  });
}

/** Whether another hard fork is in force after the next block than before: the whole pool is judged then. */
export function isForkNext({ network, state }: Pick<ChainParts, "network" | "state">): boolean {
  const { height, hardForkVersion } = state.view();
  return hardForkAt(network, height + 1) !== hardForkVersion;
}

/** As `addToMainChain`, in turns; false where the block does not belong on the top any more. */
export function addAcrossFork(parts: ChainParts, incoming: IncomingBlock): Promise<boolean> {
  return transactInTurns(parts, function* (changed, writer) {
    const { previousId } = incoming.block.header;
    if (!equalBytes(previousId, changed.state.view().topId)) return false;
    extendChain(changed, incoming, { find: findSuppliedOrInPool(changed, incoming) })(writer);
    yield* takeFromPool(changed, writer, incoming);
    return true;
  });
}

/** The same inside the caller's write transaction. */
export function appendToMainChain(parts: ChainParts, writer: ChainWriter, incoming: IncomingBlock): void {
  extendChain(parts, incoming, { find: findInPool(parts) })(writer);
  atOnce(takeFromPool(parts, writer, incoming));
}

/** Takes the transactions of a block just appended from the pool, then one by one what a fork after it forbids. */
export function* takeFromPool(
  parts: ChangeParts,
  writer: ChainWriter,
  { block }: Pick<IncomingBlock, "block">,
): Generator<void, void> {
  for (const hash of block.transactionHashes) parts.pool.remove(writer, toHex(hash));
  yield* followFork(parts, writer, block.header.majorVersion);
}

/** Takes the newest block off, inside the caller's write transaction; never the genesis block. */
export function removeTop({ store, state }: ChangeParts, writer: ChainWriter): RemovedBlock {
  if (store.read.height() <= 1) throw new RangeError("the genesis block stays");
  const removed = writer.popBlock(factsOfTransaction);
  state.rewound();
  return removed!;
}

/** The transactions of removed blocks, oldest first: neither the miners' nor those of which a part was pruned. */
export function transactionsOf(removed: readonly RemovedBlock[]): TransactionCandidate[] {
  return [...removed]
    .sort((a, b) => a.height - b.height)
    .flatMap(({ transactions }) => transactions.slice(1))
    .flatMap(({ hash, pruned, prunable }) =>
      prunable === undefined ? [] : [candidateOfBytes(hash, Buffer.concat([pruned, prunable]))],
    );
}
