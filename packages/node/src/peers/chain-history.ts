import { nextPrunedBlock, nextWholeBlock } from "@anulo/protocol";
import type { ChainReader } from "@anulo/storage";
import { BLOCK_IDS_SENT, type PayloadOf } from "./messages.ts";

/** Number of newest blocks that are sent one by one; below them the steps double. */
const NEAR_BLOCKS = 10;

function idAt(read: ChainReader, height: number): Uint8Array {
  return read.blockInfo(height)!.hash;
}

/**
 * Ids (32 bytes each) of blocks from the top down, in growing steps, the last of them genesis: enough to find where two
 * chains part. Source: blockchain.cpp `get_short_chain_history`.
 */
export function shortHistory(read: ChainReader): Uint8Array[] {
  const chainHeight = read.height();
  const ids: Uint8Array[] = [];
  let step = 1;
  for (let back = 1; back < chainHeight; back += step) {
    ids.push(idAt(read, chainHeight - back));
    if (ids.length > NEAR_BLOCKS) step *= 2;
  }
  ids.push(idAt(read, 0));
  return ids;
}

/** Height of the first of these ids (newest first, the last our genesis) that we have; undefined for another chain. */
function commonHeight(read: ChainReader, ids: readonly Uint8Array[]): number | undefined {
  const steps = commonHeightSteps(read, ids);
  for (let step = steps.next(); ; step = steps.next()) if (step.done === true) return step.value;
}

/** The same for lists of strangers, which may be long: it may pause before each id. */
export function* commonHeightSteps(
  read: ChainReader,
  ids: readonly Uint8Array[],
): Generator<void, number | undefined> {
  const last = ids.at(-1);
  if (last === undefined || read.heightOf(last) !== 0) return undefined;
  for (const id of ids) {
    yield;
    const height = read.heightOf(id);
    if (height !== undefined) return height;
  }
  return undefined;
}

const U64 = 2n ** 64n - 1n;
/** Number of blocks whose ids are read between two checks of the time. */
const BLOCKS_PER_TURN = 500;

/**
 * The heights at which an answer starts and ends (exclusive), and the length of the chain; undefined: see
 * `chainAnswer`.
 */
function rangeOf(read: ChainReader, { block_ids, prune }: PayloadOf<"requestChain">, pruningSeed: number) {
  const start = commonHeight(read, block_ids);
  if (start === undefined) return undefined;
  const total = read.height();
  if (!prune && start < nextWholeBlock(start, total, pruningSeed)) return undefined;
  const stop = prune ? total : nextPrunedBlock(start, total, pruningSeed);
  return { start, total, end: Math.min(stop, start + BLOCK_IDS_SENT) };
}

/**
 * The blocks that follow those a peer knows, starting with the newest one it knows; undefined if it is on another
 * chain, or wants whole blocks that we keep pruned. May pause: what was read before a pause is still valid if its last
 * block is still in the chain, otherwise reading starts again. Source: blockchain.cpp `find_blockchain_supplement`.
 */
export function* chainAnswer(
  read: ChainReader,
  ask: PayloadOf<"requestChain">,
  pruningSeed: number,
): Generator<void, PayloadOf<"chain"> | undefined> {
  for (;;) {
    const range = rangeOf(read, ask, pruningSeed);
    if (range === undefined) return undefined;
    const { start, end } = range;
    const ids: Uint8Array[] = [];
    const weights: number[] = [];
    let isWhole = true;
    for (let from = start; from < end && isWhole; from += BLOCKS_PER_TURN) {
      const to = Math.min(end, from + BLOCKS_PER_TURN);
      for (const id of read.blockInfoColumn("hash", from, to)) ids.push(id);
      for (const weight of read.blockInfoColumn("weight", from, to)) weights.push(weight);
      isWhole = ids.length === to - start;
      yield;
      isWhole &&= read.height() >= end && read.heightOf(ids.at(-1)!) === to - 1;
    }
    if (!isWhole) continue;
    // What is told last must not be less than what was told in a pause: a height that shrinks is a fault.
    const total = read.height();
    const work = read.blockInfo(total - 1)!.cumulativeDifficulty;
    return {
      start_height: start,
      total_height: total,
      cumulative_difficulty: work & U64,
      cumulative_difficulty_top64: work >> 64n,
      m_block_ids: ids,
      m_block_weights: weights,
      first_block: end - start < 2 ? new Uint8Array() : read.blockBlob(start + 1)!,
    };
  }
}
