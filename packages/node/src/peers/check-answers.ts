import { PeerFault } from "@anulo/p2p";
import { BadBytes, equalBytes, MAX_BLOCK_NUMBER, NULL_HASH, toHex } from "@anulo/protocol";
import type { ChainReader } from "@anulo/storage";
import { type IncomingBlock, readIncomingBlock } from "../chain/incoming-block.ts";
import type { BlockEntry } from "./block-entry.ts";
import type { FetchedBlock } from "./block-queue.ts";
import type { Asked, NeededBlock } from "./link.ts";
import { MAX_BLOCK_IDS_TAKEN, type PayloadOf } from "./messages.ts";

/** Blame of the original for an answer that cannot be honest. */
const LIE = { score: 5 };
const WRONG = { score: 1 };

/** What is known of blocks, by id (32 bytes, or hexadecimal). */
export interface KnownBlocks {
  readonly read: ChainReader;
  /** Blocks found invalid before. */
  isInvalid(key: string): boolean;
  /** Asked for or fetched, and not in the chain yet. */
  isComing(key: string): boolean;
}

function checkShape(answer: PayloadOf<"chain">, overlap: number): void {
  const { start_height: start, total_height: total, m_block_ids: ids, m_block_weights: weights } = answer;
  if (start + 1 > overlap) throw new PeerFault("a chain that leaves blocks out", WRONG);
  if (ids.length === 0) throw new PeerFault("a chain without blocks", WRONG);
  if (start + ids.length > total) throw new PeerFault("a chain higher than its height", WRONG);
  if (weights.length > 0 && weights.length !== ids.length) {
    throw new PeerFault("not one weight for each block", WRONG);
  }
  if (total >= MAX_BLOCK_NUMBER || ids.length > MAX_BLOCK_IDS_TAKEN) throw new PeerFault("too many blocks");
}

/** Checks one block of a chain after the first; true when it is unknown. */
function isUnknown(known: KnownBlocks, { id, key, height }: NeededBlock, isPastUnknown: boolean): boolean {
  const { read } = known;
  const where = read.heightOf(id);
  if (where === undefined && read.alternativeBlock(id) === undefined) {
    if (known.isInvalid(key)) throw new PeerFault("a chain with an invalid block", WRONG);
    return true;
  }
  if (isPastUnknown) throw new PeerFault("a known block above unknown ones", LIE);
  if (where !== undefined && where !== height) throw new PeerFault("a block at another height", LIE);
  return false;
}

/**
 * The blocks of a chain that a peer tells of, which must follow one we know. Throws PeerFault.
 * Source: cryptonote_protocol_handler.inl `handle_response_chain_entry`.
 */
export function checkChain(
  known: KnownBlocks,
  answer: PayloadOf<"chain">,
  { overlap }: Asked & { what: "chain" },
): NeededBlock[] {
  checkShape(answer, overlap);
  const seen = new Set<string>();
  let isPastUnknown = false;
  return answer.m_block_ids.map((id, i) => {
    const height = answer.start_height + i;
    const block = { id, key: toHex(id), height, weight: answer.m_block_weights[i] ?? 0 };
    if (seen.has(block.key)) throw new PeerFault("a block twice in a chain", LIE);
    seen.add(block.key);
    const isNew = i === 0 ? isFirstUnknown(known, block) : isUnknown(known, block, isPastUnknown);
    isPastUnknown ||= isNew;
    return block;
  });
}

/** The first block of a chain must be one we have or have asked for. */
function isFirstUnknown({ read, isComing }: KnownBlocks, { id, key }: NeededBlock): boolean {
  if (read.heightOf(id) !== undefined || read.alternativeBlock(id) !== undefined) return false;
  if (!isComing(key)) throw new PeerFault("a chain that begins nowhere", LIE);
  return true;
}

function readEntry({ block: blob, txs, pruned, weight }: BlockEntry): FetchedBlock {
  const block = readOrBlame(blob);
  const inputs = block.block.minerTransaction.prefix.inputs;
  if (inputs.length !== 1 || inputs[0]?.type !== "generation") throw new PeerFault("a block nobody mined");
  if (block.block.transactionHashes.length !== txs.length)
    throw new PeerFault("a block without all it holds");
  if (pruned || weight !== 0 || txs.some(({ prunableHash }) => !equalBytes(prunableHash, NULL_HASH))) {
    throw new PeerFault("pruned data that nobody asked for");
  }
  return { block, txs };
}

function readOrBlame(blob: Uint8Array): IncomingBlock {
  try {
    return readIncomingBlock(blob);
  } catch (error) {
    throw error instanceof BadBytes ? new PeerFault(`no block: ${error.message}`) : error;
  }
}

/**
 * The blocks a peer was asked for, in the order of the question. Throws PeerFault.
 * Source: cryptonote_protocol_handler.inl `handle_response_get_objects`.
 */
export function checkBlocks(
  { blocks }: PayloadOf<"blocks">,
  { keys, start }: Asked & { what: "blocks" },
): FetchedBlock[] {
  if (blocks.length === 0) throw new PeerFault("an answer without blocks", WRONG);
  const fetched = new Map(blocks.map((entry) => readEntry(entry)).map((entry) => [entry.block.key, entry]));
  const wanted = new Set(keys);
  if (blocks.length > keys.length || [...fetched.keys()].some((key) => !wanted.has(key))) {
    throw new PeerFault("blocks that nobody asked for");
  }
  const inOrder = keys.map((key) => {
    const found = fetched.get(key);
    if (found === undefined) throw new PeerFault("not all blocks asked for");
    return found;
  });
  const first = inOrder[0]!.block.block.minerTransaction.prefix.inputs[0];
  if (first?.type === "generation" && first.height > start)
    throw new PeerFault("a block ahead of its height");
  return inOrder;
}
