export type { NewBlock, NewOutput, NewTransaction, RemovedBlock, TransactionFacts } from "./block-changes.ts";
export type { ChainSnapshot, ChainStore, ChainWriter, StoreOptions } from "./chain-store.ts";
export { openReader, openStore, WrongDatabase } from "./chain-store.ts";
export { CorruptRecord } from "./layout.ts";
export type { ChainReader, StoredTransaction, WithHash } from "./reader.ts";
export type { AlternativeBlock, BlockInfo, OutputInfo, PoolTransaction, TransactionInfo } from "./tables.ts";
