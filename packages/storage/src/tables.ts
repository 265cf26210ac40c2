import type { Field, ValueOf } from "./layout.ts";
import {
  bool,
  bytes32,
  count64,
  empty,
  list,
  oneOf,
  record,
  rest,
  text,
  u8,
  u32,
  u64,
  u128,
} from "./layout.ts";

/** Incremented with every change of a layout below; a file of an earlier version is migrated (`migrate.ts`). */
export const SCHEMA_VERSION = 3;

/** What is stored of every main-chain block besides its bytes; weights in bytes, coins in atomic units. */
const blockInfo = record({
  hash: bytes32,
  timestamp: count64,
  weight: count64,
  longTermWeight: count64,
  cumulativeDifficulty: u128,
  alreadyGenerated: u64,
  cumulativeRctOutputs: count64,
  firstTransactionId: count64,
  transactionCount: u32,
  hardForkVersion: u8,
  minorVersion: u8,
});

/** What is stored of every main-chain transaction besides its bytes. */
const transactionInfo = record({ hash: bytes32, height: count64, unlockTime: u64, prunableHash: bytes32 });

/** An output as rings refer to it; `indexInTransaction` counts the outputs of its transaction. */
const outputInfo = record({
  key: bytes32,
  commitment: bytes32,
  unlockTime: u64,
  height: count64,
  transactionId: count64,
  indexInTransaction: u32,
});

/** A block beside the main chain, with the totals of its own branch; weight 0 if it is unknown. */
const alternativeBlock = record({
  height: count64,
  cumulativeDifficulty: u128,
  alreadyGenerated: u64,
  weight: count64,
  blob: rest,
});

/**
 * How far a transaction was relayed: `local` came from our own user, `forward` from an anonymity network, `stem` goes
 * from one peer to the next (Dandelion++), `fluff` is sent to all.
 */
const relayPhase = oneOf("local", "forward", "stem", "fluff");

/** A transaction waiting for a block; times are Unix seconds (2^64 - 1: never), fee atomic units, weight bytes. */
const poolTransaction = record({
  weight: count64,
  fee: u64,
  receiveTime: count64,
  lastRelayedTime: u64,
  maxUsedBlockHeight: count64,
  maxUsedBlockHash: bytes32,
  lastFailedHeight: count64,
  lastFailedHash: bytes32,
  keptByBlock: bool,
  relayed: bool,
  doNotRelay: bool,
  doubleSpendSeen: bool,
  phase: relayPhase,
  blob: rest,
});

/** One table: how its keys and values are laid out. */
export interface TableLayout<K, V> {
  readonly key: Field<K>;
  readonly value: Field<V>;
  /** Every new key is above all others: pages are filled completely, and any other key is an error. */
  readonly grows?: boolean;
  /**
   * That a key is missing is important here, so the rows next to its place are checked too: a row whose key was damaged
   * is found there.
   */
  readonly provesAbsence?: boolean;
}

function table<K, V>(layout: TableLayout<K, V>): TableLayout<K, V> {
  return layout;
}

/** The whole schema. Keys sort by value, so that every range is read in order. Rows end with their checksum. */
export const tables = {
  /** Schema version, network and other facts about the file, by name. */
  properties: table({ key: text, value: rest }),
  /** Block without its transactions, by height. */
  blocks: table({ key: count64, value: rest, grows: true }),
  /** Totals and weights up to a block, by height. */
  blockInfo: table({ key: count64, value: blockInfo, grows: true }),
  /**
   * Long-term weights of `WEIGHTS_PER_ROW` blocks per row, because 100,000 of them are read at a time; by the row's
   * number.
   */
  longTermWeights: table({ key: count64, value: list(count64) }),
  /** Height of a main-chain block, by block hash. */
  heights: table({ key: bytes32, value: count64, provesAbsence: true }),
  /** Number of a main-chain transaction in chain order, by transaction hash. */
  transactionIds: table({ key: bytes32, value: count64, provesAbsence: true }),
  /** Facts of a transaction, by its number. */
  transactionInfo: table({ key: count64, value: transactionInfo, grows: true }),
  /** Transaction bytes without the prunable part, by its number. */
  prunedTransactions: table({ key: count64, value: rest, grows: true }),
  /** The prunable part, by the transaction's number; missing where it was pruned. */
  prunableParts: table({ key: count64, value: rest, grows: true }),
  /** Global index of each output of a transaction, by its number. */
  outputIndices: table({ key: count64, value: list(count64), grows: true }),
  /** RingCT outputs in global-index order. */
  ringCtOutputs: table({ key: count64, value: outputInfo, grows: true }),
  /** Outputs of visible amounts; those of one amount in global-index order. */
  outputs: table({ key: record({ amount: u64, index: count64 }), value: outputInfo }),
  /** Number of outputs of an amount; amount 0 stands for RingCT. */
  outputCounts: table({ key: u64, value: count64 }),
  /** Key images spent on the main chain. */
  keyImages: table({ key: bytes32, value: empty, provesAbsence: true }),
  /** Blocks beside the main chain, by block hash. */
  alternativeBlocks: table({ key: bytes32, value: alternativeBlock }),
  /** Transactions waiting for a block, by transaction hash. */
  poolTransactions: table({ key: bytes32, value: poolTransaction }),
} as const;

/** Blocks of a row of `longTermWeights`. */
export const WEIGHTS_PER_ROW = 100;

/** Each reads one field of a `blockInfo` row. */
export const blockInfoColumns = blockInfo.columns;

/** Reads the height of an output's row. */
export const outputHeightColumn = outputInfo.columns.height;

/** Offsets of the fields in an output's row, in bytes. */
export const outputOffsets = {
  key: outputInfo.offsetOf("key"),
  commitment: outputInfo.offsetOf("commitment"),
  unlockTime: outputInfo.offsetOf("unlockTime"),
  height: outputInfo.offsetOf("height"),
  transactionId: outputInfo.offsetOf("transactionId"),
};

/** Reads the hash of a transaction's row. */
export const transactionHashColumn = transactionInfo.columns.hash;

/** Offset of the hash in a `transactionInfo` row, in bytes. */
export const transactionHashOffset = transactionInfo.offsetOf("hash");

export type TableName = keyof typeof tables;
export type KeyOf<N extends TableName> = ValueOf<(typeof tables)[N]["key"]>;
export type RowOf<N extends TableName> = ValueOf<(typeof tables)[N]["value"]>;

export type BlockInfo = RowOf<"blockInfo">;
export type TransactionInfo = RowOf<"transactionInfo">;
export type OutputInfo = RowOf<"outputs">;
export type AlternativeBlock = RowOf<"alternativeBlocks">;
export type RelayPhase = ValueOf<typeof relayPhase>;
export type PoolTransaction = RowOf<"poolTransactions">;
