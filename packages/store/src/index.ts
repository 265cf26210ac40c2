export type {
  Change,
  Engine,
  KeyRange,
  Mark,
  NewRow,
  Page,
  Row,
  RowKey,
  TableNumber,
  WalletId,
  WalletRows,
  WalletSnapshot,
} from "./engine.ts";
export {
  ChangeTooLarge,
  DamagedStore,
  Expelled,
  Fenced,
  OtherSettings,
  OutcomeUnknown,
  RolledBack,
  StoreUnavailable,
  WrongStoreKey,
} from "./errors.ts";
export { openLater } from "./late-engine.ts";
export { openLmdbEngine } from "./lmdb-engine.ts";
export { createMemoryEngine } from "./memory-engine.ts";
export type { LeaseHold } from "./postgres/lease-hold.ts";
export {
  type FleetMember,
  type FleetState,
  openWalletLeases,
  type WalletLease,
  type WalletLeases,
} from "./postgres/leases.ts";
export {
  openPostgresEngine,
  type PostgresEngine,
  type PostgresOptions,
} from "./postgres/postgres-engine.ts";
export { rangeOf } from "./range.ts";
export { readingAhead } from "./reading-ahead.ts";
export { hasDataKey, removeWalletRows, restoreWalletRows, type WalletCopy } from "./sealed/copies.ts";
export {
  type OpenedWalletStore,
  openStoreForReading,
  openWalletStore,
  type WalletStoreOptions,
} from "./sealed/open-wallet-store.ts";
export type { Table } from "./sealed/tables.ts";
export type { WalletChange, WalletKey, WalletRow, WalletStore } from "./sealed/wallet-store.ts";
export { type WitnessedWallet, witnessedWallet, witnessedWallets } from "./sealed/witnessed-wallets.ts";
