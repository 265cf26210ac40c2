export type { Functions } from "./client.ts";
export {
  AnuloError,
  BadAnswer,
  ConnectionFailed,
  type ErrorKind,
  HttpError,
  type ProtocolErrorKind,
  RpcError,
  type WalletErrorKind,
} from "./errors.ts";
export type {
  EventCalls,
  EventFilter,
  EventPage,
  PaymentEvent,
  StateEvent,
  TransferEvent,
  WalletEvent,
  WalletEventType,
} from "./events.ts";
export { protocolErrorCodes, walletErrorCodes } from "./generated/error-codes.ts";
export { walletEventTypes } from "./generated/event-types.ts";
export type { NodeCalls } from "./generated/node-calls.ts";
export type { WalletCalls } from "./generated/wallet-calls.ts";
export { formatJson, type Json, type JsonObject, parseJson } from "./json.ts";
export {
  createNodeClient,
  createWalletClient,
  type NodeClient,
  type WalletClient,
  type WalletClientOptions,
} from "./services.ts";
export type { CallOptions, ClientOptions, Login } from "./transport.ts";
