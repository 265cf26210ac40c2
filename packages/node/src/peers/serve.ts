import { type ByteReservation, type CostLimits, runSliced, TimeSlice } from "@anulo/limits";
import { PeerFault } from "@anulo/p2p";
import { equalBytes, NULL_HASH, readBlock, toHex } from "@anulo/protocol";
import type { ChainReader } from "@anulo/storage";
import type { ChainParts } from "../chain/parts.ts";
import { transactionBlob } from "../chain/stored-transaction.ts";
import { isPublic, type PoolEntry } from "../pool/entry.ts";
import type { BlockEntry, TransactionEntry } from "./block-entry.ts";
import { chainAnswer } from "./chain-history.ts";
import type { PeerLink } from "./link.ts";
import { COMPLEMENT_BYTES, MAX_BLOCKS_OF_REQUEST, messages, type PayloadOf } from "./messages.ts";
import { transactionsMessage } from "./transactions-message.ts";

/** Answers requests of peers. Each function may throw PeerFault. */
export interface Server {
  chain(link: PeerLink, ask: PayloadOf<"requestChain">): Promise<void>;
  blocks(link: PeerLink, ask: PayloadOf<"requestBlocks">): Promise<void>;
  missing(link: PeerLink, ask: PayloadOf<"requestMissing">): Promise<void>;
  complement(link: PeerLink, ask: PayloadOf<"poolComplement">): Promise<void>;
}

/** The score of a peer whose request makes us work in vain, or that no honest node sends. */
const WRONG = { score: 1 };

/** Counts the cost of a response while it is built. Both functions throw PeerFault. */
interface ResponseMeter {
  /** Rows read, and bytes that will be sent. */
  spend(more: { readonly rows: number; readonly bytes: number }): void;
  /** Memory that is needed meanwhile. */
  hold(bytes: number): void;
}

function createMeter(
  { rows: maxRows, responseBytes }: CostLimits,
  reservation: ByteReservation,
): ResponseMeter {
  let rows = 0;
  let bytes = 0;
  const hold = (more: number): void => {
    if (!reservation.resize(reservation.bytes + more))
      throw new PeerFault("asks for more than there is memory for");
  };
  return {
    hold,
    spend(more) {
      rows += more.rows;
      bytes += more.bytes;
      if (rows > maxRows || bytes > responseBytes) throw new PeerFault("asks for too much at once", WRONG);
      hold(more.bytes);
    },
  };
}

/** Names, types and sizes around a transaction in a response. */
const TRANSACTION_OVERHEAD = 40;

/** A block as it is sent, one transaction per step; undefined if it is not whole. */
function* entryOf(
  read: ChainReader,
  height: number,
  { prune, meter }: { readonly prune: boolean; readonly meter: ResponseMeter },
): Generator<void, BlockEntry | undefined> {
  const info = read.blockInfo(height);
  const block = read.blockBlob(height);
  if (info === undefined || block === undefined) return undefined;
  meter.spend({ rows: 3, bytes: block.length });
  const txs: TransactionEntry[] = [];
  for (let i = 1; i < info.transactionCount; i++) {
    yield;
    const stored = read.transactionById(info.firstTransactionId + i);
    if (stored === undefined) return undefined;
    // Transactions of version 1 have no hash of a prunable part, and are sent whole.
    const inPart = prune && !equalBytes(stored.prunableHash, NULL_HASH);
    const blob = inPart ? read.prunedTransaction(stored.id) : transactionBlob(read, stored);
    if (blob === undefined) return undefined;
    meter.spend({ rows: 3, bytes: blob.length + TRANSACTION_OVERHEAD });
    txs.push({ blob, prunableHash: inPart ? stored.prunableHash : NULL_HASH });
  }
  return { pruned: prune, block, weight: prune ? info.weight : 0, txs };
}

/** The blocks with these ids; throws PeerFault if one of them is not whole. */
function* entriesOf(
  read: ChainReader,
  { blocks: ids, prune }: PayloadOf<"requestBlocks">,
  meter: ResponseMeter,
): Generator<void, { blocks: BlockEntry[]; missed: Uint8Array[] }> {
  const blocks: BlockEntry[] = [];
  const missed: Uint8Array[] = [];
  for (const id of ids) {
    yield;
    const height = read.heightOf(id);
    const entry = height === undefined ? undefined : yield* entryOf(read, height, { prune, meter });
    // The block may have left the chain in a pause, and the rows that were read be those of another.
    if (read.heightOf(id) !== height) {
      missed.push(id);
      continue;
    }
    if (entry !== undefined) blocks.push(entry);
    else if (height === undefined) missed.push(id);
    else throw new PeerFault("asks for blocks that are not here whole", WRONG);
  }
  return { blocks, missed };
}

/** Throws PeerFault if an id (32 bytes) occurs twice. */
function checkDistinct(ids: readonly Uint8Array[]): void {
  if (new Set(ids.map(toHex)).size < ids.length) throw new PeerFault("asks for a block twice", WRONG);
}

/** Bytes of a block on the main chain or beside it. */
function blockBlob(read: ChainReader, id: Uint8Array): Uint8Array | undefined {
  const height = read.heightOf(id);
  return height === undefined ? read.alternativeBlock(id)?.blob : read.blockBlob(height);
}

function transactionOf({ store, pool }: ChainParts, id: Uint8Array): Uint8Array | undefined {
  const stored = store.read.transaction(id);
  return stored === undefined ? pool.get(toHex(id))?.row.blob : transactionBlob(store.read, stored);
}

/** Whole transactions of a block by their indices in it; throws PeerFault. */
function* missingOf(
  parts: ChainParts,
  { blob, indices }: { readonly blob: Uint8Array; readonly indices: readonly number[] },
  meter: ResponseMeter,
): Generator<void, TransactionEntry[]> {
  if (new Set(indices).size < indices.length) throw new PeerFault("asks for a transaction twice", WRONG);
  const { transactionHashes } = readBlock(blob);
  const entries: TransactionEntry[] = [];
  for (const index of indices) {
    yield;
    const id = transactionHashes[index];
    if (id === undefined) throw new PeerFault("asks for a transaction the block does not have", WRONG);
    const transaction = transactionOf(parts, id);
    if (transaction === undefined) throw new PeerFault("asks for a transaction that is not known", WRONG);
    meter.spend({ rows: 3, bytes: transaction.length + TRANSACTION_OVERHEAD });
    entries.push({ blob: transaction, prunableHash: NULL_HASH });
  }
  return entries;
}

/** Number of ids compared between two possible pauses. */
const IDS_PER_STEP = 4096;
/** Memory of a transaction's entry in the index. */
const PLACE_BYTES = 160;

/** The first four bytes of an id as a number, which few ids share. */
const prefixAt = (bytes: Uint8Array, at: number) =>
  (bytes[at]! | (bytes[at + 1]! << 8) | (bytes[at + 2]! << 16) | (bytes[at + 3]! << 24)) >>> 0;

/**
 * The public transactions whose ids (32 bytes) are not in the list. The pool is indexed, not the list: a stranger
 * decides how long the list is.
 */
function* complementOf(
  { pool }: ChainParts,
  hashes: Uint8Array,
  meter: ResponseMeter,
): Generator<void, Uint8Array[]> {
  meter.hold(pool.size * PLACE_BYTES);
  const missing = new Map<number, PoolEntry[]>();
  for (const [at, entry] of pool.entries().entries()) {
    if (at % IDS_PER_STEP === IDS_PER_STEP - 1) yield;
    if (!isPublic(entry.row)) continue;
    const prefix = prefixAt(entry.id, 0);
    const others = missing.get(prefix);
    if (others === undefined) missing.set(prefix, [entry]);
    else others.push(entry);
  }
  for (let at = 0; at < hashes.length; at += 32) {
    if (at % (32 * IDS_PER_STEP) === 0) yield;
    const alike = missing.get(prefixAt(hashes, at));
    if (alike === undefined) continue;
    const id = hashes.subarray(at, at + 32);
    missing.set(
      prefixAt(id, 0),
      alike.filter((entry) => !equalBytes(entry.id, id)),
    );
  }
  return [...missing.values()].flat().map(({ row }) => row.blob);
}

/** Builds a response in the peer's turns, with its memory charged to the peer. */
async function respond<T>(
  { peer }: PeerLink,
  cost: CostLimits,
  steps: (meter: ResponseMeter) => Generator<void, T>,
): Promise<T> {
  const reservation = peer.reserve(0)!;
  try {
    return await runSliced(steps(createMeter(cost, reservation)), peer.slicing);
  } finally {
    // From here on it is counted as queued.
    reservation.release();
  }
}

/** Creates the server that answers peers from a chain; `pruningSeed` returns which part of it is kept whole. */
export function createServer(parts: ChainParts, pruningSeed: () => number): Server {
  const { read } = parts.store;
  const { requestChain, requestBlocks, requestMissing, poolComplement } = messages;
  return {
    async chain(link, ask) {
      const answer = await respond(link, requestChain.cost, () => chainAnswer(read, ask, pruningSeed()));
      if (answer !== undefined) link.peer.notify(messages.chain, answer);
    },
    async blocks(link, ask) {
      if (ask.blocks.length > MAX_BLOCKS_OF_REQUEST) throw new PeerFault("asks for too many blocks", WRONG);
      checkDistinct(ask.blocks);
      const response = await respond(link, requestBlocks.cost, (meter) => entriesOf(read, ask, meter));
      link.peer.notify(messages.blocks, {
        blocks: response.blocks,
        missed_ids: response.missed,
        current_blockchain_height: read.height(),
      });
    },
    async missing(link, { block_hash, current_blockchain_height, missing_tx_indices: indices }) {
      const blob = blockBlob(read, block_hash);
      if (blob === undefined) throw new PeerFault("asks for transactions of a block that is not known");
      const txs = await respond(link, requestMissing.cost, (meter) =>
        missingOf(parts, { blob, indices }, meter),
      );
      const b: BlockEntry = { pruned: false, block: blob, weight: 0, txs };
      link.peer.notify(messages.newFluffyBlock, { b, current_blockchain_height });
    },
    async complement(link, { hashes }) {
      if (link.state !== "normal") return;
      if (hashes.length % 32 !== 0) throw new PeerFault("ids of no whole length", WRONG);
      const unknown = await respond(link, poolComplement.cost, (meter) => complementOf(parts, hashes, meter));
      const slice = new TimeSlice(link.peer.slicing);
      for (const blobs of portions(unknown)) {
        const { notification, payload } = transactionsMessage(blobs, { isFluff: false, isPadded: false });
        if (!link.peer.notify(notification, payload)) return;
        await slice.yield();
        await slice.wait(link.peer.unread(COMPLEMENT_BYTES) ?? Promise.resolve());
      }
    },
  };
}

/** Splits transactions into messages of moderate size. */
function* portions(blobs: readonly Uint8Array[]): Iterable<Uint8Array[]> {
  let portion: Uint8Array[] = [];
  let bytes = 0;
  for (const blob of blobs) {
    if (bytes + blob.length > COMPLEMENT_BYTES && portion.length > 0) {
      yield portion;
      portion = [];
      bytes = 0;
    }
    portion.push(blob);
    bytes += blob.length;
  }
  if (portion.length > 0) yield portion;
}
