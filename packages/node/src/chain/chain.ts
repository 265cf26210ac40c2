import {
  chainContext,
  checkBlockSize,
  type Obligation,
  verifyAlternativeBlock,
  verifyHeader,
} from "@anulo/consensus";
import { equalBytes, toHex } from "@anulo/protocol";
import type { ChainWriter, RemovedBlock } from "@anulo/storage";
import { transact } from "../pool/parts.ts";
import { returnToPool } from "../pool/return-to-pool.ts";
import { followFork } from "../pool/revalidate.ts";
import { addAlternative, branchBelow, type HeavierBranch, heavierBranch } from "./alternative-chain.ts";
import type { IncomingBlock } from "./incoming-block.ts";
import { isForkNext, placeOnTop, removeTop, transactionsOf } from "./main-chain.ts";
import { atOnce, type ChainParts, type LongChangeParts, transactInTurns } from "./parts.ts";
import { reorganise } from "./reorganise.ts";
import { removeSideBlocks } from "./side-blocks.ts";

/** The result for a block that broke no rule. */
export type BlockOutcome = "added" | "alternative" | "reorganised" | "known";

/** Where a block belongs: it is known, on top of the main chain, or beside it. */
export type HeaderStanding = "known" | "on top" | "beside";

/** Throws RuleViolation for a block that is known to break a rule, or that is larger than a block may be. */
function standingOf(
  { store: { read }, invalidBlocks, state, now }: ChainParts,
  { id, key, block, blob }: IncomingBlock,
): HeaderStanding {
  const broken = invalidBlocks.get(key);
  if (broken !== undefined) throw broken;
  if (read.heightOf(id) !== undefined || read.alternativeBlock(id) !== undefined) return "known";
  const view = state.view();
  checkBlockSize(blob.length, chainContext(view, now()).limits);
  return equalBytes(block.header.previousId, view.topId) ? "on top" : "beside";
}

/**
 * Judges the header of a block and checks its proof of work, wherever it belongs: to be called before anything else
 * that a stranger sent with the block is read or stored. Rejects with RuleViolation; with `UNKNOWN_PARENT` where the
 * difficulty cannot be determined.
 */
export function checkHeaderAndWork(parts: ChainParts, incoming: IncomingBlock): Promise<HeaderStanding> {
  return parts.refusals.count("blocks", () =>
    parts.proofs.runProven(() => {
      const standing = standingOf(parts, incoming);
      if (standing !== "known") parts.proofs.requireProven(workOf(parts, incoming, standing));
      return standing;
    }),
  );
}

function workOf(parts: ChainParts, incoming: IncomingBlock, standing: HeaderStanding): readonly Obligation[] {
  const { block } = incoming;
  return standing === "on top"
    ? verifyHeader(block, chainContext(parts.state.view(), parts.now())).obligations
    : verifyAlternativeBlock(block, branchBelow(parts, incoming)).obligations;
}

/**
 * Makes one synchronous attempt to place a block; throws RuleViolation, or OpenProofs while proofs are unchecked. The
 * last block before a hard fork is not placed.
 */
function placeBlock(
  parts: ChainParts,
  incoming: IncomingBlock,
): BlockOutcome | HeavierBranch | "before a fork" {
  const { store, state, emit } = parts;
  const { id } = incoming;
  const standing = standingOf(parts, incoming);
  if (standing === "known") return "known";
  const { height } = state.view();
  if (standing === "on top") {
    if (isForkNext(parts)) return "before a fork";
    transact(parts, (writer) => atOnce(placeOnTop(parts, writer, incoming)));
    emit({ type: "blockAdded", height, id });
    return "added";
  }
  const heavier = addAlternative(parts, incoming);
  emit({ type: "alternativeBlock", height: store.read.alternativeBlock(id)!.height, id });
  return heavier ?? "alternative";
}

/** The same for any block: before a fork the pool is judged over several turns. */
async function placeInTurns(
  parts: ChainParts,
  incoming: IncomingBlock,
): Promise<BlockOutcome | HeavierBranch> {
  const { store, proofs } = parts;
  const outcome = await store.whenWritable(() => proofs.measure(() => placeBlock(parts, incoming)));
  if (outcome !== "before a fork") return outcome;
  const { height } = parts.state.view();
  const isPlaced = await transactInTurns(parts, function* (changed, writer) {
    const isOnTop = equalBytes(incoming.block.header.previousId, changed.state.view().topId);
    if (isOnTop) yield* placeOnTop(changed, writer, incoming);
    return isOnTop;
  });
  if (!isPlaced) return placeInTurns(parts, incoming);
  parts.emit({ type: "blockAdded", height, id: incoming.id });
  return "added";
}

/**
 * Verifies a block and adds it to the main chain or beside it, and reorganises where its branch has more work. Resolves
 * once it is on disk; rejects with RuleViolation for a block that breaks a rule.
 */
export function acceptBlock(parts: ChainParts, incoming: IncomingBlock): Promise<BlockOutcome> {
  return parts.refusals.count("blocks", () => placeProven(parts, incoming));
}

async function placeProven(parts: ChainParts, incoming: IncomingBlock): Promise<BlockOutcome> {
  const placement = await parts.proofs.runProvenInTurns(() => placeInTurns(parts, incoming));
  if (typeof placement !== "string") await reorganise(parts, placement);
  await parts.store.settled();
  return typeof placement === "string" ? placement : "reorganised";
}

/**
 * Makes the heaviest branch of side blocks the main chain, if it has more work: after blocks were popped, no new block
 * may arrive that would cause it. Rejects with RuleViolation for a block that breaks a rule.
 */
export async function adoptHeavierBranch(parts: ChainParts): Promise<void> {
  const branch = heavierBranch(parts);
  if (branch !== undefined) await reorganise(parts, branch);
}

/** Blocks removed in one write transaction. */
const BLOCKS_PER_POP = 20;

/** Removes the newest `count` blocks, but never genesis; their transactions return to the pool. */
export async function popBlocks(parts: ChainParts, count: number): Promise<void> {
  for (let remaining = count; remaining > 0; remaining -= BLOCKS_PER_POP) {
    const most = Math.min(remaining, BLOCKS_PER_POP);
    const removed = await transactInTurns(parts, (changed, writer) => popSteps(changed, writer, most));
    if (removed === 0) return;
    parts.emit({ type: "blocksPopped", height: parts.store.read.height(), removed });
  }
}

/**
 * Removes block by block with the side blocks above them, then returns transaction by transaction; returns the number
 * of removed blocks.
 */
function* popSteps(parts: LongChangeParts, writer: ChainWriter, most: number): Generator<void, number> {
  const version = parts.state.view().hardForkVersion;
  const removed: RemovedBlock[] = [];
  while (removed.length < most && parts.store.read.height() > 1) {
    removed.push(removeTop(parts, writer));
    yield;
  }
  const popped = removed.map(({ info }) => toHex(info.hash));
  yield* removeSideBlocks(parts.sideBlocks, writer, parts.sideBlocks.withDescendants(popped));
  // Oldest first; each is read only when its turn comes.
  for (const block of removed.toReversed()) {
    for (const transaction of transactionsOf(block)) {
      returnToPool(parts, writer, [transaction]);
      yield;
    }
    yield;
  }
  yield* followFork(parts, writer, version);
  return removed.length;
}
