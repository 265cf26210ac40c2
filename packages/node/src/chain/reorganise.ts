import { type Obligation, RuleViolation } from "@anulo/consensus";
import { toHex } from "@anulo/protocol";
import type { ChainWriter, RemovedBlock } from "@anulo/storage";
import { returnToPool } from "../pool/return-to-pool.ts";
import { followFork } from "../pool/revalidate.ts";
import type { HeavierBranch } from "./alternative-chain.ts";
import type { IncomingBlock } from "./incoming-block.ts";
import { extendChain, type FindTransaction, findInPool, removeTop, transactionsOf } from "./main-chain.ts";
import { type ChainParts, transact } from "./parts.ts";

/**
 * Makes a heavier branch the main chain, in one transaction; the old blocks are kept beside it and their
 * transactions return to the pool. Where a block of the branch breaks a rule the chain stays as it was,
 * that block and those above it are remembered as invalid, and the promise rejects with RuleViolation; with
 * `UNKNOWN_PARENT` where a transaction of the branch is gone, which then has to come once more.
 */
export async function reorganise(parts: ChainParts, branch: HeavierBranch): Promise<void> {
  const { proofs } = parts;
  try {
    await proofs.settle(() => switchTo(parts, branch, { stepwise: false, reached: () => {} }));
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
    await parts.proofs.settle(() => switchTo(parts, branch, { stepwise: true, reached }));
  } catch (error) {
    if (!(error instanceof RuleViolation)) throw error;
    const { code } = error.violation;
    const rest = branch.blocks.slice(position);
    if (code === "TRANSACTION_MISSING") {
      forget(parts, rest);
      throw new RuleViolation({ code: "UNKNOWN_PARENT" });
    }
    // A clock that is behind says nothing about the block: it may be tried again.
    if (code !== "TIMESTAMP_TOO_LATE") condemn(parts, rest, error);
    throw error;
  }
}

interface SwitchOptions {
  /** Whether each block's proofs must be settled before the next block is looked at. */
  readonly stepwise: boolean;
  /** Told the index of each block of the branch when its turn comes. */
  readonly reached: (index: number) => void;
}

function switchTo(parts: ChainParts, branch: HeavierBranch, options: SwitchOptions): void {
  if (!isStillHeavier(parts, branch)) return;
  const version = parts.state.view().hardForkVersion;
  const removed = transact(parts, (writer) => {
    const disconnected = removeDownTo(parts, writer, branch.forkHeight);
    connect(parts, writer, { branch, disconnected, ...options });
    keepBeside(writer, branch, disconnected);
    movePool(parts, writer, { branch, disconnected });
    followFork(parts, writer, version);
    return disconnected.length;
  });
  const { forkHeight, blocks } = branch;
  parts.emit({ type: "reorganised", forkHeight, removed, added: blocks.length });
}

/** While proofs were being checked the chain may have moved on. */
function isStillHeavier({ store }: ChainParts, { forkHeight, blocks, isCheckpoint }: HeavierBranch): boolean {
  const top = blocks.at(-1)!;
  const row = store.read.alternativeBlock(top.id);
  const main = store.read.blockInfo(store.read.height() - 1);
  const fork = store.read.blockInfo(forkHeight);
  if (row === undefined || main === undefined || fork === undefined) return false;
  const isAttached = Buffer.compare(fork.hash, blocks[0]!.block.header.previousId) === 0;
  return isAttached && (isCheckpoint || row.cumulativeDifficulty > main.cumulativeDifficulty);
}

function removeDownTo(parts: ChainParts, writer: ChainWriter, forkHeight: number): RemovedBlock[] {
  const removed: RemovedBlock[] = [];
  while (parts.store.read.height() > forkHeight + 1) removed.push(removeTop(parts, writer));
  return removed;
}

interface Switch {
  readonly branch: HeavierBranch;
  readonly disconnected: readonly RemovedBlock[];
}

function connect(parts: ChainParts, writer: ChainWriter, change: Switch & SwitchOptions): void {
  const { proofs } = parts;
  const freed = new Map(transactionsOf(change.disconnected).map((tx) => [toHex(tx.id), tx]));
  const inPool = findInPool(parts);
  const open: Obligation[] = [];
  const demand = change.stepwise ? proofs.demand : (more: readonly Obligation[]) => void open.push(...more);
  for (const [index, incoming] of change.branch.blocks.entries()) {
    change.reached(index);
    const find: FindTransaction = (key) => freed.get(key) ?? incoming.transactions?.get(key) ?? inPool(key);
    extendChain(parts, incoming, { find, demand })(writer);
  }
  proofs.demand(open);
}

function keepBeside(
  writer: ChainWriter,
  { blocks }: HeavierBranch,
  disconnected: readonly RemovedBlock[],
): void {
  for (const { id } of blocks) writer.removeAlternativeBlock(id);
  for (const { height, info, blob } of disconnected) {
    const { cumulativeDifficulty, alreadyGenerated, weight } = info;
    writer.putAlternativeBlock(info.hash, { height, cumulativeDifficulty, alreadyGenerated, weight, blob });
  }
}

function movePool(parts: ChainParts, writer: ChainWriter, { branch, disconnected }: Switch): void {
  const mined = new Set(branch.blocks.flatMap(({ block }) => block.transactionHashes.map(toHex)));
  for (const key of mined) parts.pool.remove(writer, key);
  const freed = transactionsOf(disconnected).filter(({ id }) => !mined.has(toHex(id)));
  returnToPool(parts, writer, freed);
}

/** Blocks remembered as invalid; beyond it the oldest are forgotten. */
const MAX_INVALID_BLOCKS = 10_000;

/** Remembers a block that breaks a rule and those above it, and forgets them as alternatives. */
function condemn(parts: ChainParts, blocks: readonly IncomingBlock[], violation: RuleViolation): void {
  const { invalidBlocks } = parts;
  for (const { key } of blocks) invalidBlocks.set(key, violation);
  for (const oldest of invalidBlocks.keys()) {
    if (invalidBlocks.size <= MAX_INVALID_BLOCKS) break;
    invalidBlocks.delete(oldest);
  }
  forget(parts, blocks);
}

/**
 * Blocks that are no alternatives any more: one of which a transaction has left the pool since, and those
 * above it, are as unknown as before they came, so that a peer is asked for them with their transactions.
 */
function forget(parts: ChainParts, blocks: readonly IncomingBlock[]): void {
  transact(parts, (writer) => {
    for (const { id } of blocks) writer.removeAlternativeBlock(id);
  });
}
