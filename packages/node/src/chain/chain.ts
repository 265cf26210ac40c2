import { setImmediate } from "node:timers/promises";
import { chainContext, checkBlockSize } from "@anulo/consensus";
import { equalBytes } from "@anulo/protocol";
import type { RemovedBlock } from "@anulo/storage";
import { returnToPool } from "../pool/return-to-pool.ts";
import { followFork } from "../pool/revalidate.ts";
import { addAlternative, type HeavierBranch } from "./alternative-chain.ts";
import type { IncomingBlock } from "./incoming-block.ts";
import { addToMainChain, removeTop, transactionsOf } from "./main-chain.ts";
import { type ChainParts, transact } from "./parts.ts";
import { reorganise } from "./reorganise.ts";

/** What became of a block that broke no rule. */
export type BlockOutcome = "added" | "alternative" | "reorganised" | "known";

/** One synchronous try to place a block; throws RuleViolation, or Unproven while proofs are open. */
function placeBlock(parts: ChainParts, incoming: IncomingBlock): BlockOutcome | HeavierBranch {
  const { store, invalidBlocks, state, emit } = parts;
  const { id, key, block } = incoming;
  const broken = invalidBlocks.get(key);
  if (broken !== undefined) throw broken;
  if (store.read.heightOf(id) !== undefined || store.read.alternativeBlock(id) !== undefined) return "known";
  const view = state.view();
  const { height, topId } = view;
  checkBlockSize(incoming.blob.length, chainContext(view, parts.now()).limits);
  if (equalBytes(block.header.previousId, topId)) {
    addToMainChain(parts, incoming);
    emit({ type: "blockAdded", height, id });
    return "added";
  }
  const heavier = addAlternative(parts, incoming);
  emit({ type: "alternativeBlock", height: store.read.alternativeBlock(id)!.height, id });
  return heavier ?? "alternative";
}

/**
 * Verifies a block and adds it to the main chain or beside it, reorganising where its branch has more
 * work. Resolves once it is on disk; rejects with RuleViolation for a block that breaks a rule.
 */
export async function acceptBlock(parts: ChainParts, incoming: IncomingBlock): Promise<BlockOutcome> {
  const placed = await parts.proofs.settle(() => placeBlock(parts, incoming));
  if (typeof placed !== "string") await reorganise(parts, placed);
  await parts.store.settled();
  return typeof placed === "string" ? placed : "reorganised";
}

/** Blocks taken off between two turns of the event loop. */
const POPS_PER_TURN = 20;

/** Takes the newest `count` blocks off, but never genesis; their transactions return to the pool. */
export async function popBlocks(parts: ChainParts, count: number): Promise<void> {
  let left = Math.min(count, parts.store.read.height() - 1);
  while (left > 0) {
    const turn = Math.min(left, POPS_PER_TURN);
    await parts.store.whenWritable(() => popSome(parts, Math.min(turn, parts.store.read.height() - 1)));
    left = Math.min(left - turn, parts.store.read.height() - 1);
    await setImmediate();
  }
}

function popSome(parts: ChainParts, count: number): void {
  const version = parts.state.view().hardForkVersion;
  transact(parts, (writer) => {
    const removed: RemovedBlock[] = [];
    for (let i = 0; i < count; i++) removed.push(removeTop(parts, writer));
    returnToPool(parts, writer, transactionsOf(removed));
    followFork(parts, writer, version);
  });
  parts.emit({ type: "blocksPopped", height: parts.store.read.height(), removed: count });
}
