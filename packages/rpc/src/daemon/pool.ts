import { costs } from "../costs.ts";
import { method, path } from "../define.ts";
import { list, object, omitEmpty, or, zero } from "../schema/composites.ts";
import { packed, packedHashes, uint64At, writeUint64 } from "../schema/packed.ts";
import { flag, hash, hex, text, u64, uint } from "../schema/scalars.ts";
import type { Schema } from "../schema/schema.ts";
import { switched, wireForm } from "../schema/switched.ts";
import { accessStatus, nodeStatus, noParams } from "./fields.ts";

/** One transaction waiting in the pool: weight in bytes, fee in atomic units, seconds waited. */
export type BacklogEntry = {
  readonly blob_size: number;
  readonly fee: bigint;
  readonly time_in_pool: number;
};

const backlogRecords: Schema<BacklogEntry[]> = list(
  object({ blob_size: uint, fee: u64, time_in_pool: uint }),
);

const packedBacklog = packed<BacklogEntry>({
  kind: "packedBacklog",
  itemBytes: 24,
  readItem: (bytes) => ({
    blob_size: Number(uint64At(bytes, 0)),
    fee: uint64At(bytes, 8),
    time_in_pool: Number(uint64At(bytes, 16)),
  }),
  writeItem: ({ blob_size, fee, time_in_pool }, target) => {
    writeUint64(BigInt(blob_size), target, 0);
    writeUint64(fee, target, 8);
    writeUint64(BigInt(time_in_pool), target, 16);
  },
});

const same = <T>(value: T): T => value;

/** Difference S9: records, or 24 bytes each in one string. */
const backlog = switched<readonly BacklogEntry[]>({
  contract: wireForm({ schema: backlogRecords, toWire: (v) => [...v], fromWire: same }),
  upstream: wireForm({ schema: packedBacklog, toWire: (v) => [...v], fromWire: same }),
});

const poolTransaction = object({
  blob_size: uint,
  do_not_relay: flag,
  double_spend_seen: flag,
  fee: u64,
  id_hash: hash,
  kept_by_block: flag,
  last_failed_height: uint,
  last_failed_id_hash: hash,
  last_relayed_time: u64,
  max_used_block_hash: hash,
  max_used_block_height: uint,
  max_used_block_id_hash: hash,
  receive_time: uint,
  relayed: flag,
  tx_blob: hex,
  tx_json: text,
  weight: omitEmpty(uint),
});

const poolStats = object({
  bytes_max: uint,
  bytes_med: uint,
  bytes_min: uint,
  bytes_total: uint,
  fee_total: u64,
  histo: list(object({ txs: uint, bytes: uint })),
  histo_98pc: uint,
  num_10m: uint,
  num_double_spends: uint,
  num_failing: uint,
  num_not_relayed: uint,
  oldest: uint,
  txs_total: uint,
});

/** The transaction pool. */
export const pool = {
  getTransactionPool: path({
    name: "/get_transaction_pool",
    access: "unrestricted",
    cost: costs.large,
    reads: true,
    summary: "Transactions waiting in the pool and the key images they spend.",
    params: noParams,
    result: object({
      spent_key_images: list(object({ id_hash: hash, txs_hashes: list(hash) })),
      transactions: list(poolTransaction),
      ...accessStatus,
    }),
  }),
  getTransactionPoolHashes: path({
    name: "/get_transaction_pool_hashes",
    cost: costs.large,
    reads: true,
    summary: "Hashes of the transactions in the pool.",
    params: noParams,
    result: object({ tx_hashes: omitEmpty(list(hash)), ...accessStatus }),
  }),
  getTransactionPoolHashesBin: path({
    name: "/get_transaction_pool_hashes.bin",
    cost: costs.large,
    reads: true,
    alsoBinary: true,
    summary: "Hashes of the transactions in the pool, as bytes; answered in the format of the request.",
    params: noParams,
    result: object({ tx_hashes: packedHashes, ...accessStatus }),
  }),
  getTransactionPoolStats: path({
    name: "/get_transaction_pool_stats",
    cost: costs.sum,
    reads: true,
    summary: "Sizes, fees and ages of the transactions in the pool.",
    params: noParams,
    result: object({ pool_stats: poolStats, ...accessStatus }),
  }),
  getTxpoolBacklog: method({
    name: "get_txpool_backlog",
    cost: costs.large,
    reads: true,
    summary: "Weight, fee and age of each transaction in the pool.",
    params: noParams,
    result: object({ backlog, ...accessStatus }),
  }),
  flushTxpool: method({
    name: "flush_txpool",
    access: "unrestricted",
    summary: "Removes transactions from the pool; all of them when none is named.",
    params: object({ txids: zero(list(hash)) }),
    result: object(nodeStatus),
  }),
  relayTx: method({
    name: "relay_tx",
    access: "unrestricted",
    summary: "Relays transactions that are in the pool.",
    params: object({ txids: list(hash) }),
    result: object(accessStatus),
  }),
  flushCache: method({
    name: "flush_cache",
    access: "unrestricted",
    summary: "Forgets which transactions and blocks were found invalid.",
    params: object({ bad_txs: or(flag, false), bad_blocks: or(flag, false) }),
    result: object(nodeStatus),
  }),
  getFeeEstimate: method({
    name: "get_fee_estimate",
    reads: true,
    summary: "Fee in atomic units per byte, and the four levels a wallet chooses from.",
    params: object({ grace_blocks: zero(uint) }),
    result: object({
      fee: u64,
      fees: list(u64),
      quantization_mask: or(uint, 1),
      ...accessStatus,
    }),
  }),
};
