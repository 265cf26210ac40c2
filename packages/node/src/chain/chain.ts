import { chainContext, checkBlockSize } from "@anulo/consensus";
import { equalBytes } from "@anulo/protocol";
import type { ChainWriter, RemovedBlock } from "@anulo/storage";
import { returnToPool } from "../pool/return-to-pool.ts";
import { followFork } from "../pool/revalidate.ts";
import { addAlternative, type HeavierBranch } from "./alternative-chain.ts";
import type { IncomingBlock } from "./incoming-block.ts";
import { addAcrossFork, addToMainChain, isForkNext, removeTop, transactionsOf } from "./main-chain.ts";
import { type ChainParts, type ChangeParts, transactInTurns } from "./parts.ts";
import { reorganise } from "./reorganise.ts";

/** What became of a block that broke no rule. */
export type BlockOutcome = "added" | "alternative" | "reorganised" | "known";

/**
 * One synchronous try to place a block; throws RuleViolation, or Unproven while proofs are open. The last block
 * before a hard fork is not placed.
 */
function placeBlock(
  parts: ChainParts,
  incoming: IncomingBlock,
): BlockOutcome | HeavierBranch | "before a fork" {
  const { store, invalidBlocks, state, emit } = parts;
  const { id, key, block } = incoming;
  const broken = invalidBlocks.get(key);
  if (broken !== undefined) throw broken;
  if (store.read.heightOf(id) !== undefined || store.read.alternativeBlock(id) !== undefined) return "known";
  const view = state.view();
  const { height, topId } = view;
  checkBlockSize(incoming.blob.length, chainContext(view, parts.now()).limits);
  if (equalBytes(block.header.previousId, topId)) {
    if (isForkNext(parts)) return "before a fork";
    addToMainChain(parts, incoming);
    emit({ type: "blockAdded", height, id });
    return "added";
  }
  const heavier = addAlternative(parts, incoming);
  emit({ type: "alternativeBlock", height: store.read.alternativeBlock(id)!.height, id });
  return heavier ?? "alternative";
}

/** The same for any block: before a fork the pool is judged in turns. */
async function placeInTurns(
  parts: ChainParts,
  incoming: IncomingBlock,
): Promise<BlockOutcome | HeavierBranch> {
  const placed = await parts.store.whenWritable(() => placeBlock(parts, incoming));
  if (placed !== "before a fork") return placed;
  const { height } = parts.state.view();
  if (!(await addAcrossFork(parts, incoming))) return placeInTurns(parts, incoming);
  parts.emit({ type: "blockAdded", height, id: incoming.id });
  return "added";
}

/**
 * Verifies a block and adds it to the main chain or beside it, reorganising where its branch has more
 * work. Resolves once it is on disk; rejects with RuleViolation for a block that breaks a rule.
 */
export async function acceptBlock(parts: ChainParts, incoming: IncomingBlock): Promise<BlockOutcome> {
  const placed = await parts.proofs.settleInTurns(() => placeInTurns(parts, incoming));
  if (typeof placed !== "string") await reorganise(parts, placed);
  await parts.store.settled();
  return typeof placed === "string" ? placed : "reorganised";
}

/** Blocks taken off in one write transaction. */
const POPS_AT_ONCE = 20;

/** Takes the newest `count` blocks off, but never genesis; their transactions return to the pool. */
export async function popBlocks(parts: ChainParts, count: number): Promise<void> {
  const { read } = parts.store;
  let left = Math.min(count, read.height() - 1);
  while (left > 0) {
    const most = Math.min(left, POPS_AT_ONCE);
    const removed = await transactInTurns(parts, (changed, writer) => popSteps(changed, writer, most));
    parts.emit({ type: "blocksPopped", height: read.height(), removed });
    left = Math.min(left - most, read.height() - 1);
  }
}

/** Block by block, then transaction by transaction; the number of blocks that were taken off. */
function* popSteps(parts: ChangeParts, writer: ChainWriter, most: number): Generator<void, number> {
  const version = parts.state.view().hardForkVersion;
  const removed: RemovedBlock[] = [];
  while (removed.length < most && parts.store.read.height() > 1) {
    removed.push(removeTop(parts, writer));
    yield;
  }
  for (const transaction of transactionsOf(removed)) {
    returnToPool(parts, writer, [transaction]);
    yield;
  }
  yield* followFork(parts, writer, version);
  return removed.length;
}
