import { chainContext, type TransactionCandidate, verifyBlock, verifyHeader } from "@anulo/consensus";
import { hardForkAt, readTransaction, toHex, transactionWeight } from "@anulo/protocol";
import type { ChainWriter, NewBlock, RemovedBlock } from "@anulo/storage";
import { candidateOf } from "../pool/candidate.ts";
import { followFork } from "../pool/revalidate.ts";
import { type IncomingBlock, newBlock } from "./incoming-block.ts";
import type { ChainParts, ChangeParts } from "./parts.ts";
import type { Proofs } from "./proofs.ts";
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

export interface AppendOptions {
  readonly incoming: IncomingBlock;
  /** Left out: among what came with the block, then in the pool. */
  readonly find?: FindTransaction;
  /** What is done with proofs that are not checked yet; by default Unproven is thrown. */
  readonly demand?: Proofs["demand"];
}

/**
 * Verifies a block on top of the main chain and writes it, inside the caller's write transaction: the one way in
 * which a block comes to be on the main chain, but for runs that were verified ahead.
 * Throws RuleViolation, or Unproven (from `demand`) while proofs are open.
 */
export function appendBlock(parts: ChangeParts, writer: ChainWriter, options: AppendOptions): void {
  const { state, proofs, now } = parts;
  const { incoming, find = findSuppliedOrInPool(parts, incoming), demand = proofs.demand } = options;
  const { block } = incoming;
  const context = chainContext(state.view(), now());
  const header = verifyHeader(block, context);
  // Nobody has us look up rings for a block that took no work.
  demand(header.obligations);
  const found = block.transactionHashes.map((hash) => find(toHex(hash)));
  const verified = verifyBlock({ block, transactions: found }, context, header);
  demand(verified.obligations);
  const known = found.filter((tx) => tx !== undefined);
  appendVerified(parts, writer, newBlock(incoming, known, verified));
}

/** Writes a block that keeps the rules on top of the main chain, inside the caller's write transaction. */
function appendVerified({ state }: ChangeParts, writer: ChainWriter, stored: NewBlock): void {
  writer.appendBlock(stored);
  state.appended(stored);
}

/** Verifies and writes a block, then takes its transactions from the pool and what a fork after it forbids. */
export function* placeOnTop(
  parts: ChangeParts,
  writer: ChainWriter,
  incoming: IncomingBlock,
): Generator<void, void> {
  appendBlock(parts, writer, { incoming });
  yield* takeFromPool(parts, writer, incoming);
}

/** Whether another hard fork is in force after the next block than before: the whole pool is judged then. */
export function isForkNext({ network, state }: Pick<ChainParts, "network" | "state">): boolean {
  const { height, hardForkVersion } = state.view();
  return hardForkAt(network, height + 1) !== hardForkVersion;
}

/** Takes the transactions of a block just appended from the pool, then one by one what a fork after it forbids. */
export function* takeFromPool(
  parts: ChangeParts,
  writer: ChainWriter,
  incoming: IncomingBlock,
): Generator<void, void> {
  const { pool, state, onAppended } = parts;
  const { block } = incoming;
  const keys = block.transactionHashes.map(toHex);
  const transactions = new Map(keys.map((key) => [key, pool.remove(writer, key)]));
  yield* followFork(parts, writer, block.header.majorVersion);
  onAppended?.(state.view(), { incoming, transactions, pool });
}

/** Takes the newest block off, inside the caller's write transaction; never the genesis block. */
export function removeTop({ store, state }: ChangeParts, writer: ChainWriter): RemovedBlock {
  if (store.read.height() <= 1) throw new RangeError("the genesis block stays");
  const removed = writer.popBlock(factsOfTransaction);
  state.rewound();
  return removed!;
}

/** The transactions of a removed block: neither the miner's nor those of which a part was pruned. */
export function transactionsOf({ transactions }: RemovedBlock): TransactionCandidate[] {
  return transactions
    .slice(1)
    .flatMap(({ hash, pruned, prunable }) =>
      prunable === undefined ? [] : [candidateOfBytes(hash, Buffer.concat([pruned, prunable]))],
    );
}
