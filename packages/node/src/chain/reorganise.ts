import { type Obligation, RuleViolation, type TransactionCandidate } from "@anulo/consensus";
import { toHex } from "@anulo/protocol";
import type { ChainWriter, RemovedBlock } from "@anulo/storage";
import { returnToPool } from "../pool/return-to-pool.ts";
import { followFork } from "../pool/revalidate.ts";
import type { HeavierBranch } from "./alternative-chain.ts";
import type { IncomingBlock } from "./incoming-block.ts";
import { extendChain, type FindTransaction, findInPool, removeTop, transactionsOf } from "./main-chain.ts";
import { type ChainParts, type ChangeParts, transact, transactInTurns } from "./parts.ts";

/**
 * Makes a heavier branch the main chain, in one transaction over many turns; the old blocks are kept beside it and their
 * transactions return to the pool. Where a block of the branch breaks a rule the chain stays as it was,
 * that block and those above it are remembered as invalid, and the promise rejects with RuleViolation; with
 * `UNKNOWN_PARENT` where a transaction of the branch is gone, which then has to come once more.
 */
export async function reorganise(parts: ChainParts, branch: HeavierBranch): Promise<void> {
  const { proofs } = parts;
  try {
    await proofs.settleInTurns(() => switchTo(parts, branch, { stepwise: false, reached: () => {} }));
  } catch (error) {
    if (!(error instanceof RuleViolation)) throw error;
    await findCulprit(parts, branch);
  }
}

/** The same one block at a time, to learn which one breaks a rule; by now it may also succeed. */
async function findCulprit(parts: ChainParts, branch: HeavierBranch): Promise<void> {
  let position = 0;
  const reached = (index: number) => {
    position = index;
  };
  try {
    await parts.proofs.settleInTurns(() => switchTo(parts, branch, { stepwise: true, reached }));
  } catch (error) {
    if (!(error instanceof RuleViolation)) throw error;
    const { code } = error.violation;
    const rest = branch.blocks.slice(position);
    if (code === "TRANSACTION_MISSING") {
      await forget(parts, rest);
      throw new RuleViolation({ code: "UNKNOWN_PARENT" });
    }
    // A clock that is behind says nothing about the block: it may be tried again.
    if (code !== "TIMESTAMP_TOO_LATE") await condemn(parts, rest, error);
    throw error;
  }
}

interface SwitchOptions {
  /** Whether each block's proofs must be settled before the next block is looked at. */
  readonly stepwise: boolean;
  /** Told the index of each block of the branch when its turn comes. */
  readonly reached: (index: number) => void;
}

async function switchTo(parts: ChainParts, branch: HeavierBranch, options: SwitchOptions): Promise<void> {
  const removed = await transactInTurns(parts, (changed, writer) =>
    switchSteps(changed, writer, { branch, ...options }),
  );
  if (removed === undefined) return;
  const { forkHeight, blocks } = branch;
  parts.emit({ type: "reorganised", forkHeight, removed, added: blocks.length });
}

/** Block by block; the number of blocks that left, undefined where nothing is to be done any more. */
function* switchSteps(
  parts: ChangeParts,
  writer: ChainWriter,
  { branch, ...options }: { readonly branch: HeavierBranch } & SwitchOptions,
): Generator<void, number | undefined> {
  if (!isStillHeavier(parts, branch)) return undefined;
  const version = parts.state.view().hardForkVersion;
  const disconnected = yield* removeDownTo(parts, writer, branch.forkHeight);
  const freed = yield* candidatesOf(disconnected);
  yield* connect(parts, writer, { branch, freed, ...options });
  yield* keepBeside(writer, branch, disconnected);
  yield* movePool(parts, writer, { branch, freed });
  yield* followFork(parts, writer, version);
  return disconnected.length;
}

/** While proofs were being checked the chain may have moved on. */
function isStillHeavier(
  { store }: ChangeParts,
  { forkHeight, blocks, isCheckpoint }: HeavierBranch,
): boolean {
  const top = blocks.at(-1)!;
  const row = store.read.alternativeBlock(top.id);
  const main = store.read.blockInfo(store.read.height() - 1);
  const fork = store.read.blockInfo(forkHeight);
  if (row === undefined || main === undefined || fork === undefined) return false;
  const isAttached = Buffer.compare(fork.hash, blocks[0]!.block.header.previousId) === 0;
  return isAttached && (isCheckpoint || row.cumulativeDifficulty > main.cumulativeDifficulty);
}

function* removeDownTo(
  parts: ChangeParts,
  writer: ChainWriter,
  forkHeight: number,
): Generator<void, RemovedBlock[]> {
  const removed: RemovedBlock[] = [];
  while (parts.store.read.height() > forkHeight + 1) {
    removed.push(removeTop(parts, writer));
    yield;
  }
  return removed;
}

/** The transactions of removed blocks by id (hexadecimal), oldest first. */
type Freed = ReadonlyMap<string, TransactionCandidate>;

function* candidatesOf(removed: readonly RemovedBlock[]): Generator<void, Freed> {
  const freed = new Map<string, TransactionCandidate>();
  for (const block of [...removed].reverse()) {
    for (const tx of transactionsOf([block])) freed.set(toHex(tx.id), tx);
    yield;
  }
  return freed;
}

interface Switch {
  readonly branch: HeavierBranch;
  readonly freed: Freed;
}

function* connect(
  parts: ChangeParts,
  writer: ChainWriter,
  { branch, freed, stepwise, reached }: Switch & SwitchOptions,
): Generator<void, void> {
  const { proofs } = parts;
  const inPool = findInPool(parts);
  const open: Obligation[] = [];
  const demand = stepwise
    ? proofs.demand
    : (more: readonly Obligation[]) => void open.push(...proofs.open(more));
  for (const [index, incoming] of branch.blocks.entries()) {
    reached(index);
    const find: FindTransaction = (key) => freed.get(key) ?? incoming.transactions?.get(key) ?? inPool(key);
    extendChain(parts, incoming, { find, demand })(writer);
    yield;
  }
  proofs.demand(open);
}

function* keepBeside(
  writer: ChainWriter,
  { blocks }: HeavierBranch,
  disconnected: readonly RemovedBlock[],
): Generator<void, void> {
  for (const { id } of blocks) {
    writer.removeAlternativeBlock(id);
    yield;
  }
  for (const { height, info, blob } of disconnected) {
    const { cumulativeDifficulty, alreadyGenerated, weight } = info;
    writer.putAlternativeBlock(info.hash, { height, cumulativeDifficulty, alreadyGenerated, weight, blob });
    yield;
  }
}

function* movePool(
  parts: ChangeParts,
  writer: ChainWriter,
  { branch, freed }: Switch,
): Generator<void, void> {
  const mined = new Set<string>();
  for (const { block } of branch.blocks) {
    for (const key of block.transactionHashes.map(toHex)) {
      mined.add(key);
      parts.pool.remove(writer, key);
    }
    yield;
  }
  for (const [key, candidate] of freed) {
    if (!mined.has(key)) returnToPool(parts, writer, [candidate]);
    yield;
  }
}

/** Blocks remembered as invalid; beyond it the oldest are forgotten. */
const MAX_INVALID_BLOCKS = 10_000;

/** Remembers a block that breaks a rule and those above it, and forgets them as alternatives. */
async function condemn(
  parts: ChainParts,
  blocks: readonly IncomingBlock[],
  violation: RuleViolation,
): Promise<void> {
  const { invalidBlocks } = parts;
  for (const { key } of blocks) invalidBlocks.set(key, violation);
  for (const oldest of invalidBlocks.keys()) {
    if (invalidBlocks.size <= MAX_INVALID_BLOCKS) break;
    invalidBlocks.delete(oldest);
  }
  await forget(parts, blocks);
}

/**
 * Blocks that are no alternatives any more: one of which a transaction has left the pool since, and those
 * above it, are as unknown as before they came, so that a peer is asked for them with their transactions.
 */
async function forget(parts: ChainParts, blocks: readonly IncomingBlock[]): Promise<void> {
  await parts.store.whenWritable(() =>
    transact(parts, (writer) => {
      for (const { id } of blocks) writer.removeAlternativeBlock(id);
    }),
  );
}
