import type { CostLimits } from "@anulo/limits";
import { type Notification, notification } from "@anulo/p2p";
import { epee, type Field, type RecordField } from "@anulo/protocol";
import { blockEntry } from "./block-entry.ts";
import { packedCounts } from "./packed-counts.ts";

const KiB = 1024;
const MiB = 1024 * KiB;
/** Maximum length of any message. Source: levin_base.h `LEVIN_DEFAULT_MAX_PACKET_SIZE`. */
const MAX_PACKET = 100_000_000;

/** Maximum number of blocks per request. Source: cryptonote_protocol_handler.h. */
export const MAX_BLOCKS_OF_REQUEST = 100;
/**
 * Maximum number of block ids per answer that we send, and that we accept. Source: cryptonote_config.h
 * `BLOCKS_IDS_SYNCHRONIZING_*`.
 */
export const BLOCK_IDS_SENT = 10_000;
export const MAX_BLOCK_IDS_TAKEN = 25_000;
/** Bytes of transactions per message that completes a peer's pool; the next message follows when this one was read. */
export const COMPLEMENT_BYTES = 2 * MiB;
/** Block ids that a request for a chain may have: in growing steps, some forty reach from any height to genesis. */
const MAX_HISTORY_IDS = 500;
/**
 * Bytes and transactions of the largest block while the median of weights is at its floor: fifty times 300 kB in a
 * surge, twice that at most; and the smallest transaction has 1.2 kB.
 */
const MAX_BLOCK_BYTES = 32 * MiB;
const MAX_BLOCK_TRANSACTIONS = 25_000;
/** Names, types and sizes around the content of a message. */
const OVERHEAD_BYTES = KiB;
/** Estimated memory of a list's element, an id or a transaction, besides its bytes. */
const ELEMENT = 160;

/** The cost of messages without a response. */
const noResponse = { rows: 0, responseBytes: 0 };

/**
 * Payloads may be as long as the message needs, and at most as long as the original accepts. Source:
 * connection_context.cpp `get_max_bytes`.
 */
function declare<T>(id: number, name: string, rest: { payload: RecordField<T>; cost: CostLimits }) {
  return notification({ id, name, ...rest });
}

const hashes = epee.packedBytes(32);
/** The same as joined bytes, for messages that may have very many. */
const joinedHashes: Field<Uint8Array> = {
  ...epee.blob,
  toPortable: (joined) => (joined.length === 0 ? undefined : epee.blob.toPortable(joined)),
};
const newBlock = epee.record({ b: blockEntry, current_blockchain_height: epee.count64 });

/** Source: cryptonote_protocol_defs.h; the field names are those of the wire. */
export const messages = {
  newBlock: declare(2001, "new block", {
    payload: newBlock,
    cost: { requestBytes: MAX_BLOCK_BYTES, memoryBytes: 4 * MiB, ...noResponse },
  }),
  newTransactions: declare(2002, "new transactions", {
    payload: epee.record({
      txs: epee.list(epee.blob),
      _: epee.blob,
      dandelionpp_fluff: epee.defaultsTo(epee.bool, true),
    }),
    // The original sends its whole pool in one message: to a peer that has none of it, and when it relays all of it
    // again.
    cost: { requestBytes: MAX_PACKET, memoryBytes: 4 * MiB, ...noResponse },
  }),
  requestBlocks: declare(2003, "request blocks", {
    payload: epee.record({ blocks: hashes, prune: epee.defaultsTo(epee.bool, false) }),
    cost: {
      requestBytes: MAX_BLOCKS_OF_REQUEST * 32 + OVERHEAD_BYTES,
      memoryBytes: MAX_BLOCKS_OF_REQUEST * ELEMENT + OVERHEAD_BYTES,
      rows: MAX_BLOCKS_OF_REQUEST * 3 + 4 * MAX_BLOCK_TRANSACTIONS,
      // A longer one would not fit a frame.
      responseBytes: 95_000_000,
    },
  }),
  blocks: declare(2004, "blocks", {
    payload: epee.record({
      blocks: epee.list(blockEntry),
      missed_ids: hashes,
      current_blockchain_height: epee.count64,
    }),
    cost: { requestBytes: MAX_PACKET, memoryBytes: 8 * MiB, ...noResponse },
  }),
  requestChain: declare(2006, "request chain", {
    payload: epee.record({ block_ids: hashes, prune: epee.defaultsTo(epee.bool, false) }),
    cost: {
      requestBytes: MAX_HISTORY_IDS * 32 + OVERHEAD_BYTES,
      memoryBytes: MAX_HISTORY_IDS * ELEMENT + OVERHEAD_BYTES,
      rows: MAX_HISTORY_IDS + 2 * BLOCK_IDS_SENT + 3,
      responseBytes: 2 * MiB,
    },
  }),
  chain: declare(2007, "chain", {
    payload: epee.record({
      start_height: epee.count64,
      total_height: epee.count64,
      cumulative_difficulty: epee.u64,
      cumulative_difficulty_top64: epee.u64,
      m_block_ids: hashes,
      m_block_weights: packedCounts,
      first_block: epee.blob,
    }),
    cost: {
      // Per block an id and a weight, and one block without its transactions.
      requestBytes: MAX_BLOCK_IDS_TAKEN * 40 + MiB,
      memoryBytes: MAX_BLOCK_IDS_TAKEN * 2 * ELEMENT + OVERHEAD_BYTES,
      ...noResponse,
    },
  }),
  newFluffyBlock: declare(2008, "new fluffy block", {
    payload: newBlock,
    cost: { requestBytes: 4 * MiB, memoryBytes: 4 * MiB, ...noResponse },
  }),
  requestMissing: declare(2009, "request missing transactions", {
    payload: epee.record({
      block_hash: epee.fixedBytes(32),
      current_blockchain_height: epee.count64,
      missing_tx_indices: packedCounts,
    }),
    cost: {
      requestBytes: MAX_BLOCK_TRANSACTIONS * 8 + OVERHEAD_BYTES,
      memoryBytes: MAX_BLOCK_TRANSACTIONS * ELEMENT + OVERHEAD_BYTES,
      rows: 2 + 3 * MAX_BLOCK_TRANSACTIONS,
      responseBytes: MAX_BLOCK_BYTES,
    },
  }),
  poolComplement: declare(2010, "pool complement", {
    payload: epee.record({ hashes: joinedHashes }),
    cost: {
      requestBytes: 4 * MiB,
      memoryBytes: OVERHEAD_BYTES,
      rows: 0,
      responseBytes: COMPLEMENT_BYTES,
    },
  }),
} as const;

/** The payload of one of the messages. */
export type PayloadOf<N extends keyof typeof messages> =
  (typeof messages)[N] extends Notification<infer T> ? T : never;
