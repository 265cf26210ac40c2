export type { NewBlock, NewOutput, NewTransaction, RemovedBlock, TransactionFacts } from "./block-changes.ts";
export { type BulkLoadOptions, bulkLoad, type SortedRows } from "./bulk-load.ts";
export type { ChainSnapshot, ChainStore, ChainWriter } from "./chain-store.ts";
export type { BlockFacts, ChainCheck, FactReader, StoredParts } from "./check-chain.ts";
export { DamagedDatabase, DatabaseInUse, WriteFailed, WrongDatabase } from "./damage.ts";
export { lmdbOptions } from "./environment.ts";
export { checkOpens } from "./meta-pages.ts";
export type { MigrationProgress } from "./migrate.ts";
export { openStore, type StoreOptions } from "./open-store.ts";
export { OutputBatch, type OutputName } from "./output-batch.ts";
export type { Prefetch, PrefetchOptions, RandomRows } from "./prefetch.ts";
export { isPrunedCorrectly, type PruneStep } from "./prune.ts";
export { syncFolder, syncFoldersAbove } from "./put-in-place.ts";
export type { BlockExtent, ChainReader, StoredTransaction, WithHash } from "./reader.ts";
export type { Recovery } from "./recover.ts";
export {
  BadSource,
  type ChainSource,
  inSource,
  type SourceBlock,
  type SourceStart,
  type SourceTransaction,
} from "./sources/chain-source.ts";
export { findMonerodDatabase, openChainSource } from "./sources/open-source.ts";
export { openRawFile, type RawFile, type RawFileOptions } from "./sources/raw-file.ts";
export { BadSyncMode, parseSyncMode, type SyncMode } from "./sync-mode.ts";
export type {
  AlternativeBlock,
  BlockInfo,
  OutputInfo,
  PoolTransaction,
  RelayPhase,
  TransactionInfo,
} from "./tables.ts";
export { openReader, type ThreadReader } from "./thread-reader.ts";
