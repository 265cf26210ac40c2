import { PeerFault } from "@anulo/p2p";
import { BadBytes, equalBytes, MAX_BLOCK_NUMBER, NULL_HASH, toHex } from "@anulo/protocol";
import type { ChainReader } from "@anulo/storage";
import { type IncomingBlock, readIncomingBlock } from "../chain/incoming-block.ts";
import type { BlockEntry } from "./block-entry.ts";
import type { QueuedBlock } from "./block-queue.ts";
import type { PendingRequest } from "./link.ts";
import { MAX_BLOCK_IDS_TAKEN, type PayloadOf } from "./messages.ts";

/** The original's penalty score for an answer that cannot be honest. */
const DISHONEST = { score: 5 };
const WRONG = { score: 1 };

/** Looks up blocks by id (32 bytes, or hexadecimal). */
export interface KnownBlocks {
  readonly read: ChainReader;
  /** Whether the block was found invalid before. */
  isInvalid(key: string): boolean;
  /** Whether the block is requested or fetched, and not in the chain yet. */
  isExpected(key: string): boolean;
}

function checkShape(answer: PayloadOf<"chain">, overlap: number): void {
  const { start_height: start, total_height: total, m_block_ids: ids, m_block_weights: weights } = answer;
  if (start + 1 > overlap) throw new PeerFault("a chain that leaves blocks out", WRONG);
  if (ids.length === 0) throw new PeerFault("a chain without blocks", WRONG);
  if (start + ids.length > total) throw new PeerFault("a chain higher than its height", WRONG);
  if (weights.length > 0 && weights.length !== ids.length) {
    throw new PeerFault("not one weight for each block", WRONG);
  }
  if (total >= MAX_BLOCK_NUMBER || ids.length > MAX_BLOCK_IDS_TAKEN) {
    throw new PeerFault("too many blocks", WRONG);
  }
}

/** A block that a peer announced: id (32 bytes and hexadecimal) and height. */
interface AnnouncedBlock {
  readonly id: Uint8Array;
  readonly key: string;
  readonly height: number;
}

/** Our chain when a check began: blocks added since count as unknown. */
interface ChainMark {
  readonly height: number;
  readonly topId: Uint8Array;
}

/** Checks one block of a chain after the first; true when it is unknown. */
function isUnknown(
  knownBlocks: KnownBlocks,
  { id, key, height }: AnnouncedBlock,
  { mark, isPastUnknown }: { readonly mark: ChainMark; readonly isPastUnknown: boolean },
): boolean {
  const { read } = knownBlocks;
  const ownHeight = read.heightOf(id);
  const where = ownHeight !== undefined && ownHeight < mark.height ? ownHeight : undefined;
  // A side block does not imply anything about the blocks below it: they may have been removed again.
  const isBeside = ownHeight === undefined && read.alternativeBlock(id) !== undefined;
  if (where === undefined && (isPastUnknown || !isBeside)) {
    if (knownBlocks.isInvalid(key)) throw new PeerFault("a chain with an invalid block", WRONG);
    return true;
  }
  if (isPastUnknown) throw new PeerFault("a known block above unknown ones", DISHONEST);
  if (where !== undefined && where !== height) throw new PeerFault("a block at another height", DISHONEST);
  return false;
}

/**
 * Checks the chain that a peer announced, which must follow a block that we have; pauses between blocks. Throws
 * PeerFault. Results from before a pause remain valid while our chain only grows; otherwise the check starts again.
 * Returns how many of its blocks, from the first on, we have. Source: cryptonote_protocol_handler.inl `handle_response_chain_entry`.
 */
export function* checkChain(
  knownBlocks: KnownBlocks,
  answer: PayloadOf<"chain">,
  { overlap }: Pick<PendingRequest & { what: "chain" }, "overlap">,
): Generator<void, number> {
  checkShape(answer, overlap);
  const { read } = knownBlocks;
  for (;;) {
    const height = read.height();
    const mark: ChainMark = { height, topId: read.blockInfo(height - 1)!.hash };
    const isSame = () => read.heightOf(mark.topId) === height - 1;
    try {
      const knownCount = yield* checkBlockIds(knownBlocks, answer, mark);
      if (isSame()) return knownCount;
    } catch (error) {
      if (isSame()) throw error;
    }
  }
}

function* checkBlockIds(
  knownBlocks: KnownBlocks,
  answer: PayloadOf<"chain">,
  mark: ChainMark,
): Generator<void, number> {
  const keys = new Set<string>();
  let knownCount = 0;
  let isPastUnknown = false;
  for (const [i, id] of answer.m_block_ids.entries()) {
    yield;
    const block: AnnouncedBlock = { id, key: toHex(id), height: answer.start_height + i };
    if (keys.has(block.key)) throw new PeerFault("a block twice in a chain", DISHONEST);
    keys.add(block.key);
    const isNew: boolean =
      i === 0 ? isFirstUnknown(knownBlocks, block) : isUnknown(knownBlocks, block, { mark, isPastUnknown });
    isPastUnknown ||= isNew;
    if (!isPastUnknown) knownCount++;
  }
  return knownCount;
}

/** The first block of a chain must be one that we have or have requested. */
function isFirstUnknown({ read, isExpected }: KnownBlocks, { id, key }: AnnouncedBlock): boolean {
  if (read.heightOf(id) !== undefined || read.alternativeBlock(id) !== undefined) return false;
  if (!isExpected(key)) throw new PeerFault("a chain that begins nowhere", DISHONEST);
  return true;
}

/** A fetched block with the facts that are compared with the request. */
interface CheckedEntry {
  readonly key: string;
  /** The height in its miner transaction. */
  readonly height: number;
  readonly fetched: QueuedBlock;
}

function readEntry({ block: blob, txs, pruned, weight }: BlockEntry): CheckedEntry {
  const { block, id, key, minerTransactionHash, blob: whole } = readOrBlame(blob);
  const [input, ...others] = block.minerTransaction.prefix.inputs;
  if (others.length > 0 || input?.type !== "generation") throw new PeerFault("a block nobody mined", WRONG);
  if (block.transactionHashes.length !== txs.length) {
    throw new PeerFault("a block without all it holds", WRONG);
  }
  if (pruned || weight !== 0 || txs.some(({ prunableHash }) => !equalBytes(prunableHash, NULL_HASH))) {
    throw new PeerFault("pruned data that nobody asked for", WRONG);
  }
  const { previousId } = block.header;
  // The parsed block refers to its own copy of the bytes, which is kept instead of the message.
  const fetched = { id, key, previousId, minerTransactionHash, blob: whole, txs: txs.map((tx) => tx.blob) };
  return { key, height: input.height, fetched };
}

function readOrBlame(blob: Uint8Array): IncomingBlock {
  try {
    return readIncomingBlock(blob);
  } catch (error) {
    throw error instanceof BadBytes ? new PeerFault(`no block: ${error.message}`, WRONG) : error;
  }
}

/**
 * Checks the blocks of an answer, in the order of the request; pauses between them. Throws PeerFault. Source:
 * cryptonote_protocol_handler.inl `handle_response_get_objects`.
 */
export function* checkBlocks(
  { blocks }: PayloadOf<"blocks">,
  { keys, start }: PendingRequest & { what: "blocks" },
): Generator<void, QueuedBlock[]> {
  if (blocks.length === 0) throw new PeerFault("an answer without blocks", WRONG);
  if (blocks.length > keys.length) throw new PeerFault("blocks that nobody asked for", WRONG);
  const fetched = new Map<string, CheckedEntry>();
  const missingKeys = new Set(keys);
  for (const entry of blocks) {
    yield;
    const read = readEntry(entry);
    if (!missingKeys.has(read.key)) throw new PeerFault("blocks that nobody asked for", WRONG);
    fetched.set(read.key, read);
  }
  const inOrder = keys.map((key) => {
    const transaction = fetched.get(key);
    if (transaction === undefined) throw new PeerFault("not all blocks asked for");
    return transaction;
  });
  if (inOrder[0]!.height > start) throw new PeerFault("a block ahead of its height", WRONG);
  return inOrder.map((entry) => entry.fetched);
}
