import { setImmediate, setTimeout } from "node:timers/promises";
import { PeerFault } from "@anulo/p2p";
import { equalBytes, NULL_HASH, readBlock, toHex } from "@anulo/protocol";
import type { ChainReader } from "@anulo/storage";
import type { ChainParts } from "../chain/parts.ts";
import { transactionBlob } from "../chain/stored-transaction.ts";
import { isPublic } from "../pool/relay-phase.ts";
import type { BlockEntry, TransactionEntry } from "./block-entry.ts";
import { chainAnswer } from "./chain-history.ts";
import type { PeerLink } from "./link.ts";
import { MAX_BLOCKS_OF_REQUEST, messages, type PayloadOf } from "./messages.ts";
import { transactionsMessage } from "./transactions-message.ts";

/** Answers what peers ask. Each may throw PeerFault. */
export interface Server {
  chain(link: PeerLink, ask: PayloadOf<"requestChain">): void;
  blocks(link: PeerLink, ask: PayloadOf<"requestBlocks">): Promise<void>;
  missing(link: PeerLink, ask: PayloadOf<"requestMissing">): void;
  complement(link: PeerLink, ask: PayloadOf<"poolComplement">): Promise<void>;
}

/** Milliseconds of work between two turns of the event loop. */
const TURN_MS = 15;
/** Bytes of transactions in one message; the next waits until no more than that is queued for the peer. */
const COMPLEMENT_BYTES = 2 * 1024 * 1024;
const DRAIN_LOOK_MS = 50;
/** An answer with more bytes would not fit a message. */
const MAX_ANSWER_BYTES = 95_000_000;

function entryOf(read: ChainReader, height: number, prune: boolean): BlockEntry | undefined {
  const info = read.blockInfo(height);
  const block = read.blockBlob(height);
  if (info === undefined || block === undefined) return undefined;
  const txs: TransactionEntry[] = [];
  for (let i = 1; i < info.transactionCount; i++) {
    const stored = read.transactionById(info.firstTransactionId + i);
    if (stored === undefined) return undefined;
    // Transactions of version 1 have no hash of a prunable part, and go whole.
    const inPart = prune && !equalBytes(stored.prunableHash, NULL_HASH);
    const blob = inPart ? read.prunedTransaction(stored.id) : transactionBlob(read, stored);
    if (blob === undefined) return undefined;
    txs.push({ blob, prunableHash: inPart ? stored.prunableHash : NULL_HASH });
  }
  return { pruned: prune, block, weight: prune ? info.weight : 0, txs };
}

function sizeOf({ block, txs }: BlockEntry): number {
  return txs.reduce((sum, { blob }) => sum + blob.length + 40, block.length);
}

/** The blocks with these ids, in turns; undefined where one of them is not whole. */
async function entriesOf(read: ChainReader, { blocks: ids, prune }: PayloadOf<"requestBlocks">) {
  const blocks: BlockEntry[] = [];
  const missed: Uint8Array[] = [];
  let bytes = 0;
  let start = performance.now();
  for (const id of ids) {
    if (performance.now() - start > TURN_MS) {
      await setImmediate();
      start = performance.now();
    }
    const height = read.heightOf(id);
    const entry = height === undefined ? undefined : entryOf(read, height, prune);
    if (height !== undefined && entry === undefined) return undefined;
    if (entry === undefined) missed.push(id);
    else blocks.push(entry);
    bytes += entry === undefined ? 0 : sizeOf(entry);
    if (bytes > MAX_ANSWER_BYTES) return undefined;
  }
  return { blocks, missed };
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

/** Whole transactions of a block by their places in it; throws PeerFault. */
function missingOf(parts: ChainParts, blob: Uint8Array, indices: readonly number[]): TransactionEntry[] {
  const { transactionHashes } = readBlock(blob);
  if (new Set(indices).size < indices.length) {
    throw new PeerFault("asks for a transaction twice", { score: 1 });
  }
  return indices.map((index) => {
    const id = transactionHashes[index];
    if (id === undefined) throw new PeerFault("asks for a transaction the block does not have");
    const found = transactionOf(parts, id);
    if (found === undefined) throw new PeerFault("asks for a transaction that is not known");
    return { blob: found, prunableHash: NULL_HASH };
  });
}

/** Makes what answers peers from a chain; `pruningSeed` tells which part of it is kept whole. */
export function createServer(parts: ChainParts, pruningSeed: () => number): Server {
  const { read } = parts.store;
  return {
    chain({ peer }, ask) {
      const answer = chainAnswer(read, ask, pruningSeed());
      if (answer !== undefined) peer.notify(messages.chain, answer);
    },
    async blocks({ peer }, ask) {
      if (ask.blocks.length > MAX_BLOCKS_OF_REQUEST) throw new PeerFault("asks for too many blocks");
      const found = await entriesOf(read, ask);
      if (found === undefined) throw new PeerFault("asks for blocks that are not here whole");
      peer.notify(messages.blocks, {
        blocks: found.blocks,
        missed_ids: found.missed,
        current_blockchain_height: read.height(),
      });
    },
    missing({ peer }, { block_hash, current_blockchain_height, missing_tx_indices }) {
      const block = blockBlob(read, block_hash);
      if (block === undefined) throw new PeerFault("asks for transactions of a block that is not known");
      const txs = missingOf(parts, block, missing_tx_indices);
      const b: BlockEntry = { pruned: false, block, weight: 0, txs };
      peer.notify(messages.newFluffyBlock, { b, current_blockchain_height });
    },
    async complement({ state, peer }, { hashes }) {
      if (state !== "normal") return;
      const known = new Set(hashes.map(toHex));
      const unknown = parts.pool.entries().filter(({ key, row }) => isPublic(row) && !known.has(key));
      for (const blobs of portions(unknown.map(({ row }) => row.blob))) {
        const { notification, payload } = transactionsMessage(blobs, { isFluff: false, isPadded: false });
        if (!peer.notify(notification, payload)) return;
        await setImmediate();
        while (peer.isOpen && peer.queuedBytes > COMPLEMENT_BYTES) await setTimeout(DRAIN_LOOK_MS);
      }
    },
  };
}

/** Cuts transactions into messages of bearable size. */
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
