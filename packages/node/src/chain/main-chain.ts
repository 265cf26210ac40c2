import {
  chainContext,
  type Obligation,
  type TransactionCandidate,
  type VerifiedHeader,
  verifyBlock,
  verifyHeader,
} from "@anulo/consensus";
import { hardForkAt, readTransaction, toHex, transactionWeight } from "@anulo/protocol";
import type { ChainWriter, NewBlock, RemovedBlock } from "@anulo/storage";
import { candidateOf } from "../pool/candidate.ts";
import { followFork } from "../pool/revalidate.ts";
import { type IncomingBlock, newBlock, withProofs } from "./incoming-block.ts";
import type { ChainParts, ChangeParts } from "./parts.ts";
import type { Proofs } from "./proofs.ts";
import { factsOfTransaction } from "./stored-transaction.ts";

/** Finds a transaction that a block names by its id (hexadecimal). */
export type FindTransaction = (key: string) => TransactionCandidate | undefined;

/** Looks a transaction up in the pool, and among those set aside from it. */
export function findInPool({ pool, setAside }: Pick<ChangeParts, "pool" | "setAside">): FindTransaction {
  return (key) => {
    const entry = pool.get(key);
    return entry === undefined ? setAside.get(key) : candidateOf(entry);
  };
}

/** Looks a transaction up among those supplied with the block, then in the pool. */
export function findSuppliedOrInPool(
  parts: Pick<ChangeParts, "pool" | "setAside">,
  { transactions }: IncomingBlock,
): FindTransaction {
  const inPool = findInPool(parts);
  return transactions === undefined ? inPool : (key) => transactions.get(key) ?? inPool(key);
}

/** A transaction of a removed block, as the rules judge it. */
function candidateOfBytes(hash: Uint8Array, blob: Uint8Array): TransactionCandidate {
  const transaction = readTransaction(blob);
  return { transaction, id: hash, weight: transactionWeight(transaction, blob.length) };
}

export interface AppendOptions {
  readonly incoming: IncomingBlock;
  /** By default: among the transactions supplied with the block, then in the pool. */
  readonly find?: FindTransaction;
  /** Receives proofs that are not checked yet; by default it throws OpenProofs. */
  readonly demand?: Proofs["requireProven"];
}

/** A block that follows the rules, as it will be stored, and the remaining obligations of its transactions. */
export interface JudgedBlock {
  readonly stored: NewBlock;
  readonly obligations: readonly Obligation[];
}

/**
 * Judges a block, after its header, on top of the chain of `state`: every block of the main chain passes here. Throws
 * RuleViolation, and BadBytes where the proofs of a transaction were not read yet and cannot be.
 */
export function judgeBlock(
  { state, now }: Pick<ChainParts, "state" | "now">,
  incoming: IncomingBlock,
  { header, find }: { readonly header: VerifiedHeader; readonly find: FindTransaction },
): JudgedBlock {
  const { block } = incoming;
  const candidates = block.transactionHashes.map((hash) => find(toHex(hash)));
  const transactions = header.isKnown ? candidates : candidates.map((tx) => tx && withProofs(tx));
  const verified = verifyBlock({ block, transactions }, chainContext(state.view(), now()), header);
  const stored = newBlock(
    incoming,
    transactions.filter((tx) => tx !== undefined),
    verified,
  );
  // The proof of work was checked with the header.
  return { stored, obligations: verified.transactions.flatMap(({ obligations }) => obligations) };
}

/**
 * Verifies a block on top of the main chain and writes it, inside the caller's write transaction. Throws RuleViolation,
 * or OpenProofs (from `demand`) while proofs are unchecked.
 */
export function appendBlock(parts: ChangeParts, writer: ChainWriter, options: AppendOptions): void {
  const { state, proofs, now } = parts;
  const { incoming, find = findSuppliedOrInPool(parts, incoming), demand = proofs.requireProven } = options;
  const header = verifyHeader(incoming.block, chainContext(state.view(), now()), incoming.id);
  // A block without proof of work must not make us look up rings.
  demand(header.obligations);
  const { stored, obligations } = judgeBlock(parts, incoming, { header, find });
  demand(obligations);
  appendJudged(parts, writer, stored);
}

/** Writes a block that follows the rules on top of the main chain, inside the caller's write transaction. */
function appendJudged({ state }: ChangeParts, writer: ChainWriter, stored: NewBlock): void {
  writer.appendBlock(stored);
  state.addBlock(stored);
}

/**
 * Writes a block that was judged before, then removes its transactions from the pool, and those that a fork after it
 * forbids.
 */
export function* placeJudged(
  parts: ChangeParts,
  writer: ChainWriter,
  { incoming, stored }: { readonly incoming: IncomingBlock; readonly stored: NewBlock },
): Generator<void, void> {
  appendJudged(parts, writer, stored);
  yield* takeFromPool(parts, writer, incoming);
}

/** Verifies and writes a block, then removes its transactions from the pool, and those that a fork after it forbids. */
export function* placeOnTop(
  parts: ChangeParts,
  writer: ChainWriter,
  incoming: IncomingBlock,
): Generator<void, void> {
  appendBlock(parts, writer, { incoming });
  yield* takeFromPool(parts, writer, incoming);
}

/** Whether another hard fork is in force after the next block: then the whole pool is judged again. */
export function isForkNext({ network, state }: Pick<ChainParts, "network" | "state">): boolean {
  const { height, hardForkVersion } = state.view();
  return hardForkAt(network, height + 1) !== hardForkVersion;
}

/** Removes the transactions of an appended block from the pool, then one by one those that a fork after it forbids. */
function* takeFromPool(
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

/** Removes the newest block, inside the caller's write transaction; never the genesis block. */
export function removeTop({ store, state }: ChangeParts, writer: ChainWriter): RemovedBlock {
  if (store.read.height() <= 1) throw new RangeError("the genesis block stays");
  const removed = writer.popBlock(factsOfTransaction);
  state.reload();
  return removed!;
}

/** The transactions of a removed block, without the miner's and without pruned ones. */
export function transactionsOf({ transactions }: RemovedBlock): TransactionCandidate[] {
  return transactions
    .slice(1)
    .flatMap(({ hash, pruned, prunable }) =>
      prunable === undefined ? [] : [candidateOfBytes(hash, Buffer.concat([pruned, prunable]))],
    );
}
