export type { WalletChange } from "./changes.ts";
export { createWalletService } from "./create-service.ts";
export { checked, connectDaemon, type Daemon, type DaemonAddress, daemonUrl, reached } from "./daemon.ts";
export { BadTlsSettings, type DaemonTlsSettings, readDaemonTls } from "./daemon-tls.ts";
export type { WalletEvent, WalletEventType } from "./events/event.ts";
export type { EventSink } from "./events/follower.ts";
export {
  type BackupFailure,
  type BackupPlace,
  type BackupResult,
  backupWallets,
  restoreWallets,
} from "./file/backup.ts";
export { type KeysFile, readKeysFile, WrongPassword, writeKeysFile } from "./file/keys-file.ts";
export { openStoreForCopies } from "./file/ledger-store.ts";
export { readPem } from "./file/pem-file.ts";
export { listUnusedRows, removeUnusedRows, type StorePlace, type UnusedRows } from "./file/unused-rows.ts";
export type { FirstWallet } from "./first-wallet.ts";
export { walletMetrics } from "./monitor/metrics.ts";
export type { WalletMonitor, WalletSource } from "./monitor/monitor.ts";
export type { AliasOptions } from "./open-alias.ts";
export type { OwnedOutput, SubaddressIndex } from "./outputs/owned-output.ts";
export { WalletRefusal } from "./refusal.ts";
export { closeRuntime, createRuntime, type Runtime } from "./runtime.ts";
export { type WalletContext, WalletService } from "./service.ts";
export type { WalletServiceOptions } from "./service-options.ts";
export type {
  Account,
  AddressBookEntry,
  IncomingPayment,
  NetworkName,
  OutgoingPayment,
  OutgoingState,
  PaymentDestination,
  PoolPayment,
  ScannedOutput,
  ScannedTransaction,
  WalletKeys,
  WalletSettings,
  WalletState,
} from "./state.ts";
export { Wallet } from "./wallet.ts";
