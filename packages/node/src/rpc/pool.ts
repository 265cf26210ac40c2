import { describeTransaction, readTransaction, toHex } from "@anulo/protocol";
import { daemon, type Implemented, implementFor, RpcError } from "@anulo/rpc";
import type { PoolEntry } from "../pool/entry.ts";
import { dropFromPool, release } from "../pool/maintain.ts";
import { poolStatistics } from "../pool/pool-statistics.ts";
import type { NodeContext } from "./context.ts";
import { feeEstimate } from "./fee-estimate.ts";
import { bytesOfHex } from "./hex-params.ts";
import { mapInTurns } from "./in-turns.ts";
import { visibleEntries } from "./pool-info.ts";
import { errorCodes } from "./refusal.ts";

function describeEntry({ row, key }: PoolEntry) {
  return {
    blob_size: row.blob.length,
    do_not_relay: row.doNotRelay,
    double_spend_seen: row.doubleSpendSeen,
    fee: row.fee,
    id_hash: key,
    kept_by_block: row.keptByBlock,
    last_failed_height: row.lastFailedHeight,
    last_failed_id_hash: toHex(row.lastFailedHash),
    last_relayed_time: row.phase === "stem" ? 0n : row.lastRelayedTime,
    max_used_block_hash: toHex(row.maxUsedBlockHash),
    max_used_block_height: row.maxUsedBlockHeight,
    max_used_block_id_hash: toHex(row.maxUsedBlockHash),
    receive_time: row.receiveTime,
    relayed: row.relayed,
    tx_blob: toHex(row.blob),
    tx_json: describeTransaction(readTransaction(row.blob)),
    weight: row.weight,
  };
}

/** Of the owner's port alone. */
async function transactionPool(context: NodeContext) {
  const { pool } = context.parts;
  return {
    spent_key_images: pool
      .spentKeyImages()
      .map(({ image, spenders }) => ({ id_hash: image, txs_hashes: [...spenders] })),
    transactions: await mapInTurns(pool.entries(), describeEntry, context),
  };
}

function describeStatistics(context: NodeContext) {
  const rows = visibleEntries(context).map(({ row }) => row);
  const stats = poolStatistics(rows, context.parts.now());
  return {
    bytes_max: stats.largestWeight,
    bytes_med: stats.medianWeight,
    bytes_min: stats.smallestWeight,
    bytes_total: stats.totalWeight,
    fee_total: stats.totalFee,
    histo: stats.ages,
    histo_98pc: stats.age98Percent,
    num_10m: stats.olderThan10Minutes,
    num_double_spends: stats.doubleSpends,
    num_failing: stats.failing,
    num_not_relayed: stats.notRelayed,
    oldest: stats.oldest,
    txs_total: stats.count,
  };
}

async function flush({ txids }: { txids: readonly string[] }, { parts }: NodeContext) {
  if (txids.length === 0) {
    await dropFromPool(
      parts,
      parts.pool.entries().map(({ key }) => key),
    );
    return {};
  }
  const ids = txids.map((text) => bytesOfHex(text, 32)).filter((id) => id !== undefined);
  await dropFromPool(parts, ids.map(toHex));
  if (ids.length === txids.length) return {};
  return { status: ids.length === 0 ? "Failed to parse txid" : "Failed to parse some of the txids" };
}

async function relay({ txids }: { txids: readonly string[] }, { parts }: NodeContext) {
  const problems: string[] = [];
  for (const text of txids) {
    const id = bytesOfHex(text, 32);
    const entry = id === undefined ? undefined : parts.pool.get(toHex(id));
    if (id === undefined) problems.push(`invalid transaction id: ${text}`);
    else if (entry === undefined) problems.push(`transaction not found in pool: ${text}`);
    else await release(parts, entry.key);
  }
  if (problems.length > 0) throw new RpcError(errorCodes.internal, problems.join(", "));
  return {};
}

/** Handlers of the calls about the pool. */
export function poolHandlers(): Implemented<NodeContext>[] {
  return implementFor<NodeContext>()(daemon.pool, {
    getTransactionPool: (_, context) => transactionPool(context),
    getTransactionPoolHashes: (_, context) => ({ tx_hashes: visibleEntries(context).map(({ key }) => key) }),
    getTransactionPoolHashesBin: (_, context) => ({ tx_hashes: visibleEntries(context).map(({ id }) => id) }),
    getTransactionPoolStats: (_, context) => ({ pool_stats: describeStatistics(context) }),
    getTxpoolBacklog: (_, context) => ({
      backlog: visibleEntries(context).map(({ row }) => ({
        blob_size: row.weight,
        fee: row.fee,
        // Strangers are not told when a transaction came, which helps to find where it began.
        time_in_pool: context.restricted ? 0 : Math.max(0, context.parts.now() - row.receiveTime),
      })),
    }),
    flushTxpool: flush,
    relayTx: relay,
    flushCache({ bad_blocks }, { parts }) {
      if (bad_blocks) parts.invalidBlocks.clear();
      return {};
    },
    getFeeEstimate: feeEstimate,
  });
}
