import { readTransaction, writePrunedTransaction } from "@anulo/protocol";
import { drawn } from "@anulo/rpc";
import { isPublic, type PoolEntry } from "../pool/entry.ts";
import type { NodeContext } from "./context.ts";

/** What `requested_info` asks for. Source: core_rpc_server_commands_defs.h `COMMAND_RPC_GET_BLOCKS_FAST`. */
export const requestedInfo = { blocks: 0, blocksAndPool: 1, pool: 2 } as const;
/** Values of `pool_info_extent`: changes, or everything. */
const extents = { news: 1, all: 2 } as const;

/** Transactions that a restricted port returns whole. Source: core_rpc_server.cpp `RESTRICTED_TRANSACTIONS_COUNT`. */
const RESTRICTED_TRANSACTIONS = 100;
const HASH_BYTES = 32;

/** Transactions this caller may see: a restricted port shows none before everybody may know it. */
export function visibleEntries({ parts, restricted }: NodeContext): PoolEntry[] {
  return parts.pool.entries().filter(({ row }) => !restricted || isPublic(row));
}

interface PoolInfoRequest {
  /** Unix seconds; 0: everything. */
  readonly pool_info_since: bigint;
  readonly prune: boolean;
  /** Bytes of transactions to return whole; of those beyond it, the ids. */
  readonly maxBytes: number;
}

/**
 * What came into the pool and left it since a moment, or all there is; `bytes`: those of the answer, about.
 * Source: core_rpc_server.cpp `on_get_blocks`, tx_pool.cpp `get_pool_info`.
 */
export function poolInfo({ pool_info_since, prune, maxBytes }: PoolInfoRequest, context: NodeContext) {
  const { pool } = context.parts;
  const { restricted } = context;
  const news = pool_info_since === 0n ? undefined : pool.history.since(pool_info_since);
  const entries = news === undefined ? visibleEntries(context) : entriesOf(news.added, context);
  const removed = (news?.removed ?? []).filter(({ isHidden }) => !restricted || !isHidden);
  const { count, bytes } = fitting(entries, {
    most: restricted ? RESTRICTED_TRANSACTIONS : entries.length,
    maxBytes,
  });
  const remaining = entries.slice(count);
  return {
    bytes: bytes + HASH_BYTES * (remaining.length + removed.length),
    fields: {
      pool_info_extent: news === undefined ? extents.all : extents.news,
      added_pool_txs: drawn(entries.slice(0, count), (entry) => describe(entry, prune)),
      remaining_added_pool_txids: remaining.map(({ id }) => id),
      removed_pool_txids: removed.map(({ id }) => id),
    },
  };
}

function entriesOf(keys: readonly string[], { parts, restricted }: NodeContext): PoolEntry[] {
  const entries = keys.map((key) => parts.pool.get(key)).filter((entry) => entry !== undefined);
  return entries.filter(({ row }) => !restricted || isPublic(row));
}

/** How many of the first entries are returned whole, and their bytes. */
function fitting(entries: readonly PoolEntry[], { most, maxBytes }: { most: number; maxBytes: number }) {
  let count = 0;
  let bytes = 0;
  for (const { row } of entries) {
    if (count === most || bytes + row.blob.length > maxBytes) break;
    count++;
    bytes += row.blob.length;
  }
  return { count, bytes };
}

function describe({ id, row }: PoolEntry, prune: boolean) {
  const tx_blob = prune ? writePrunedTransaction(readTransaction(row.blob)) : row.blob;
  return { tx_hash: id, tx_blob, double_spend_seen: row.doubleSpendSeen };
}
