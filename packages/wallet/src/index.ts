export type { ScannedOutput, ScannedTransaction, WalletChange } from "./changes.ts";
export { WalletRefusal } from "./refusal.ts";
export type {
  Account,
  AddressBookEntry,
  IncomingPayment,
  NetworkName,
  OutgoingPayment,
  OutgoingState,
  OwnedOutput,
  PaymentDestination,
  PoolPayment,
  SubaddressIndex,
  WalletKeys,
  WalletSettings,
  WalletState,
} from "./state.ts";
export { Wallet } from "./wallet.ts";
