import { type Notification, notification } from "@anulo/p2p";
import {
  blob,
  bool,
  count64,
  defaultsTo,
  fixedBytes,
  listOf,
  packedBytes,
  type RecordField,
  record,
  u64,
} from "@anulo/protocol";
import { blockEntry } from "./block-entry.ts";
import { packedCounts } from "./packed-counts.ts";

const KiB = 1024;
const MiB = 1024 * KiB;
/** No message is longer. Source: levin_base.h `LEVIN_DEFAULT_MAX_PACKET_SIZE`. */
const MAX_PACKET = 100_000_000;

/** Blocks asked for at once, at most. Source: cryptonote_protocol_handler.h. */
export const MAX_BLOCKS_OF_REQUEST = 100;
/** Block ids of one answer: sent and taken at most. Source: cryptonote_config.h `BLOCKS_IDS_SYNCHRONIZING_*`. */
export const BLOCK_IDS_SENT = 10_000;
export const MAX_BLOCK_IDS_TAKEN = 25_000;

/** Source: connection_context.cpp `get_max_bytes`. */
function declare<T>(id: number, name: string, rest: { payload: RecordField<T>; maxBytes: number }) {
  return notification({ id, name, ...rest });
}

const hashes = packedBytes(32);
const newBlock = record({ b: blockEntry, current_blockchain_height: count64 });

/** Source: cryptonote_protocol_defs.h; the field names are those of the wire. */
export const messages = {
  newBlock: declare(2001, "new block", { payload: newBlock, maxBytes: MAX_PACKET }),
  newTransactions: declare(2002, "new transactions", {
    payload: record({ txs: listOf(blob), _: blob, dandelionpp_fluff: defaultsTo(bool, true) }),
    maxBytes: MAX_PACKET,
  }),
  requestBlocks: declare(2003, "request blocks", {
    payload: record({ blocks: hashes, prune: defaultsTo(bool, false) }),
    maxBytes: 2 * MiB,
  }),
  blocks: declare(2004, "blocks", {
    payload: record({ blocks: listOf(blockEntry), missed_ids: hashes, current_blockchain_height: count64 }),
    maxBytes: MAX_PACKET,
  }),
  requestChain: declare(2006, "request chain", {
    payload: record({ block_ids: hashes, prune: defaultsTo(bool, false) }),
    maxBytes: 512 * KiB,
  }),
  chain: declare(2007, "chain", {
    payload: record({
      start_height: count64,
      total_height: count64,
      cumulative_difficulty: u64,
      cumulative_difficulty_top64: u64,
      m_block_ids: hashes,
      m_block_weights: packedCounts,
      first_block: blob,
    }),
    maxBytes: 4 * MiB,
  }),
  newFluffyBlock: declare(2008, "new fluffy block", { payload: newBlock, maxBytes: 4 * MiB }),
  requestMissing: declare(2009, "request missing transactions", {
    payload: record({
      block_hash: fixedBytes(32),
      current_blockchain_height: count64,
      missing_tx_indices: packedCounts,
    }),
    maxBytes: MiB,
  }),
  poolComplement: declare(2010, "pool complement", {
    payload: record({ hashes }),
    maxBytes: 4 * MiB,
  }),
} as const;

/** The payload of one of the messages. */
export type PayloadOf<N extends keyof typeof messages> =
  (typeof messages)[N] extends Notification<infer T> ? T : never;
