import { type Obligation, RuleViolation, type TransactionCandidate } from "@anulo/consensus";
import { equalBytes, toHex } from "@anulo/protocol";
import type { ChainWriter, RemovedBlock } from "@anulo/storage";
import { returnToPool } from "../pool/return-to-pool.ts";
import { followFork } from "../pool/revalidate.ts";
import type { HeavierBranch } from "./alternative-chain.ts";
import { type IncomingBlock, readIncomingBlock } from "./incoming-block.ts";
import { appendBlock, type FindTransaction, findInPool, removeTop, transactionsOf } from "./main-chain.ts";
import { type ChainParts, type ChangeParts, type LongChangeParts, transactInTurns } from "./parts.ts";
import { removeSideBlocks, type SideBlock } from "./side-blocks.ts";

/**
 * Makes a heavier branch the main chain, in one transaction over many turns; the old blocks are kept beside it and
 * their transactions return to the pool. If a block of the branch breaks a rule, the chain remains as it was, that
 * block and those above it are recorded as invalid, and the promise rejects with RuleViolation; with `UNKNOWN_PARENT`
 * where a transaction of the branch is missing, which then has to be sent again.
 */
export async function reorganise(parts: ChainParts, branch: HeavierBranch): Promise<void> {
  const { proofs } = parts;
  try {
    await proofs.runProvenInTurns(() => switchTo(parts, branch, { isStepwise: false, onBlock: () => {} }));
  } catch (error) {
    if (!(error instanceof RuleViolation)) throw error;
    await findCulprit(parts, branch);
  }
}

/** Does the same one block at a time, to find the one that breaks a rule; by now it may also succeed. */
async function findCulprit(parts: ChainParts, branch: HeavierBranch): Promise<void> {
  let position = 0;
  const onBlock = (index: number) => {
    position = index;
  };
  try {
    await parts.proofs.runProvenInTurns(() => switchTo(parts, branch, { isStepwise: true, onBlock }));
  } catch (error) {
    if (!(error instanceof RuleViolation)) throw error;
    const { code } = error.violation;
    const rest = branch.blocks.slice(position);
    if (code === "TRANSACTION_MISSING") {
      await forget(parts, rest);
      throw new RuleViolation({ code: "UNKNOWN_PARENT" });
    }
    // A clock that is behind proves nothing about the block: it may be tried again.
    if (code !== "TIMESTAMP_TOO_LATE") await markInvalid(parts, rest, error);
    throw error;
  }
}

interface SwitchOptions {
  /** Whether each block's proofs must be checked before the next block is judged. */
  readonly isStepwise: boolean;
  /** Receives the index of each block of the branch when its turn comes. */
  readonly onBlock: (index: number) => void;
}

async function switchTo(parts: ChainParts, branch: HeavierBranch, options: SwitchOptions): Promise<void> {
  const removed = await transactInTurns(parts, (changed, writer) =>
    switchSteps(changed, writer, { branch, ...options }),
  );
  if (removed === undefined) return;
  const { blocks } = branch;
  const forkHeight = blocks[0]!.height - 1;
  parts.emit({ type: "reorganised", forkHeight, removed, added: blocks.length });
}

/** Switches block by block; returns the number of removed blocks, undefined where nothing has to be done any more. */
function* switchSteps(
  parts: LongChangeParts,
  writer: ChainWriter,
  { branch, ...options }: { readonly branch: HeavierBranch } & SwitchOptions,
): Generator<void, number | undefined> {
  if (!isStillHeavier(parts, branch)) return undefined;
  const version = parts.state.view().hardForkVersion;
  const disconnected = yield* removeDownTo(parts, writer, branch.blocks[0]!.height - 1);
  const freed = yield* candidatesOf(disconnected);
  const mined = yield* connect(parts, writer, { branch, freed, ...options });
  yield* keepBeside(parts, writer, { branch, disconnected });
  yield* updatePool(parts, writer, { mined, freed });
  yield* followFork(parts, writer, version);
  return disconnected.length;
}

/** While proofs were being checked the chain may have moved on. */
function isStillHeavier({ store }: ChangeParts, { blocks, isCheckpoint }: HeavierBranch): boolean {
  const [first, top] = [blocks[0]!, blocks.at(-1)!];
  const row = store.read.alternativeBlock(top.hash);
  const main = store.read.blockInfo(store.read.height() - 1);
  const fork = store.read.blockInfo(first.height - 1);
  if (row === undefined || main === undefined || fork === undefined) return false;
  const isAttached = equalBytes(fork.hash, first.parentId);
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
type FreedTransactions = ReadonlyMap<string, TransactionCandidate>;

function* candidatesOf(removed: readonly RemovedBlock[]): Generator<void, FreedTransactions> {
  const freed = new Map<string, TransactionCandidate>();
  for (const block of removed.toReversed()) {
    for (const tx of transactionsOf(block)) freed.set(toHex(tx.id), tx);
    yield;
  }
  return freed;
}

interface BranchSwitch extends SwitchOptions {
  readonly branch: HeavierBranch;
  readonly freed: FreedTransactions;
}

/** A block of the branch, with the transactions it was sent with. */
function readSideBlock({ store }: ChangeParts, { hash, key }: SideBlock): IncomingBlock {
  const row = store.read.alternativeBlock(hash);
  if (row === undefined) throw new Error(`the side block ${key} is not there any more`);
  return readIncomingBlock(row.blob);
}

/** Applies the branch; returns the ids (hexadecimal) of the transactions in its blocks. */
function* connect(
  parts: ChangeParts,
  writer: ChainWriter,
  { branch, freed, isStepwise, onBlock }: BranchSwitch,
): Generator<void, ReadonlySet<string>> {
  const { proofs } = parts;
  const inPool = findInPool(parts);
  const open: Obligation[] = [];
  const demand = isStepwise
    ? proofs.requireProven
    : (more: readonly Obligation[]) => void open.push(...proofs.unproven(more));
  const mined = new Set<string>();
  const find: FindTransaction = (key) => freed.get(key) ?? branch.transactions?.get(key) ?? inPool(key);
  for (const [index, block] of branch.blocks.entries()) {
    onBlock(index);
    const incoming = readSideBlock(parts, block);
    appendBlock(parts, writer, { incoming, find, demand });
    const keys = incoming.block.transactionHashes.map(toHex);
    for (const key of keys) mined.add(key);
    if (parts.onAppended !== undefined) {
      const transactions = new Map(keys.map((key) => [key, parts.pool.get(key)]));
      parts.onAppended(parts.state.view(), { incoming, transactions, pool: parts.pool, freed, mined });
    }
    yield;
  }
  proofs.requireProven(open);
  return mined;
}

function* keepBeside(
  { sideBlocks }: LongChangeParts,
  writer: ChainWriter,
  { branch, disconnected }: { branch: HeavierBranch; disconnected: readonly RemovedBlock[] },
): Generator<void, void> {
  for (const { key } of branch.blocks) {
    sideBlocks.remove(writer, key);
    yield;
  }
  for (const { height, info, blob } of disconnected) {
    const { cumulativeDifficulty, alreadyGenerated, weight } = info;
    sideBlocks.put(writer, info.hash, { height, cumulativeDifficulty, alreadyGenerated, weight, blob });
    yield;
  }
}

function* updatePool(
  parts: ChangeParts,
  writer: ChainWriter,
  { mined, freed }: { readonly mined: ReadonlySet<string>; readonly freed: FreedTransactions },
): Generator<void, void> {
  for (const key of mined) {
    parts.pool.remove(writer, key);
    yield;
  }
  for (const [key, candidate] of freed) {
    if (!mined.has(key)) returnToPool(parts, writer, [candidate]);
    yield;
  }
}

/** Blocks remembered as invalid; beyond it the oldest are forgotten. */
const MAX_INVALID_BLOCKS = 10_000;

/** Records a block that breaks a rule and all blocks above it as invalid, and removes them from the side blocks. */
async function markInvalid(
  parts: ChainParts,
  blocks: readonly SideBlock[],
  violation: RuleViolation,
): Promise<void> {
  const { invalidBlocks } = parts;
  for (const { key } of await forget(parts, blocks)) invalidBlocks.set(key, violation);
  for (const oldest of invalidBlocks.keys()) {
    if (invalidBlocks.size <= MAX_INVALID_BLOCKS) break;
    invalidBlocks.delete(oldest);
  }
}

/**
 * Removes a block of which a transaction has left the pool since, and all blocks above it: they become unknown, so that
 * a peer is asked for them with their transactions.
 */
function forget(parts: ChainParts, blocks: readonly SideBlock[]): Promise<readonly SideBlock[]> {
  return transactInTurns(parts, function* ({ sideBlocks }, writer) {
    const descendants = sideBlocks.withDescendants(blocks.map(({ key }) => key));
    yield* removeSideBlocks(sideBlocks, writer, descendants);
    return descendants;
  });
}
