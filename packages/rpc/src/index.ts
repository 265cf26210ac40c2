export { type CallOptions, type Client, createClient } from "./client/client.ts";
export { BadAnswer, ConnectionFailed, RemoteError } from "./client/client-errors.ts";
export type { Connect } from "./client/dial.ts";
export { lookUpTexts, type NameServer } from "./client/dns/name-servers.ts";
export { isDomainName } from "./client/dns/text-message.ts";
export type { ClientOptions } from "./client/http-client.ts";
export { checkTls, type ServerTls, type ServerTrust } from "./client/server-tls.ts";
export { isExpensive } from "./costs.ts";
export { daemon, daemonMethods } from "./daemon/daemon.ts";
export type { OutputDistribution, SerializedDistribution } from "./daemon/output-distribution.ts";
export { ipv4Number, ipv4Text } from "./daemon/peer-address.ts";
export type { BacklogEntry } from "./daemon/pool.ts";
export { type BlockCounts, serializeCounts } from "./daemon/serialize-counts.ts";
export type { TransactionBlob } from "./daemon/transaction-blobs.ts";
export {
  type Access,
  binaryPath,
  type Call,
  type Group,
  type Handler,
  type Handlers,
  type Implemented,
  implementFor,
  type Method,
  method,
  type Need,
  type ParamsOf,
  type Path,
  path,
  type ResultOf,
  usualParams,
} from "./define.ts";
export { devnet } from "./devnet/devnet.ts";
export type { Dialect } from "./dialect.ts";
export type { Login } from "./digest-auth.ts";
export { BadRequest, protocolErrors, RpcError } from "./errors.ts";
export {
  BadJson,
  byteStringOf,
  formatJson,
  isJsonObject,
  type Json,
  type JsonObject,
  Real,
} from "./json.ts";
export { parseJson } from "./json-parser.ts";
export { categoriesOfLevel, documentedCategories } from "./log/categories.ts";
export { createLog, type Log, type LogLine, unreadLog } from "./log/log.ts";
export { type Logger, silent } from "./log/logger.ts";
export { type DocumentOptions, openRpcDocument, type ServiceInfo } from "./openrpc.ts";
export type { Page, Pages, PageType } from "./pages.ts";
export { ALIVE_PATH, type CheckedPass, type Passed, Passes } from "./peers/pass.ts";
export { createForwarder, type Forwarder, NoAnswer, NotReached, type Posting } from "./peers/pass-on.ts";
export { mostRead, READS_PATH } from "./peers/read-frames.ts";
export { ReadLink } from "./peers/read-link.ts";
export { type Descriptions, fieldsOfCall } from "./reference/describe-fields.ts";
export {
  type DocumentedError,
  type ErrorCatalogue,
  errorNamesOf,
  nodeErrors,
} from "./reference/error-catalogue.ts";
export type { CallExample } from "./reference/examples.ts";
export { loadNodeReference, loadWalletReference } from "./reference/load-reference.ts";
export type { ServiceReference, Subject } from "./reference/service-reference.ts";
export { walletErrors } from "./reference/wallet-errors.ts";
export {
  HttpError,
  type ImplementedResource,
  implementResourcesFor,
  type Resource,
  type ResourceAnswer,
  type ResourceHandler,
  type ResourceRequest,
  resource,
  type ServerEvent,
} from "./resource.ts";
export { type Column, type Columns, columns } from "./schema/columns.ts";
export { always, contractZero, list, object, omitEmpty, optional, or, zero } from "./schema/composites.ts";
export { type Lasting, lasting } from "./schema/lasting.ts";
export { type QueryFields, type QueryOf, type QueryValue, queryNumber, queryText } from "./schema/query.ts";
export { type Quoted, quoted } from "./schema/quoted.ts";
export {
  flag,
  hash,
  hex,
  i64,
  int,
  int8,
  rawBytes,
  text,
  u64,
  uint,
  uint8,
  uint16,
  uint32,
} from "./schema/scalars.ts";
export type { AnySchema, InputOf, Schema, TypeOf } from "./schema/schema.ts";
export { switched, wireForm } from "./schema/switched.ts";
export { Drawn, drawn, type Written, writtenInParts } from "./schema/written.ts";
export { type NeededScope, type Reach, type Scope, scopes } from "./scope.ts";
export { type Answer, misdirected, notAllowed } from "./server/answer.ts";
export { type Bearer, FORBIDDEN, scopeRefusal, type TokenAuth, wrongWallet } from "./server/bearer.ts";
export { type CallEnd, type RequestCaller, type RequestInfo, type Rules, unmetNeed } from "./server/call.ts";
export { type CallTally, createCallTally } from "./server/call-tally.ts";
export type { Elsewhere, InternalTarget, NamedRequest } from "./server/elsewhere.ts";
export {
  byteCosts,
  defaultLimits,
  divideLimits,
  isPrivateAddress,
  type Limits,
  limitsOfCallers,
} from "./server/limits.ts";
export { RowMeter } from "./server/row-meter.ts";
export { type RpcSource, rpcMetrics } from "./server/rpc-metrics.ts";
export {
  createRpcServer,
  hasStrangers,
  type Listener,
  type RpcServer,
  type RpcServerOptions,
  type ShareUsage,
} from "./server/server.ts";
export {
  type AnswerThreads,
  type CallRequest,
  createAnswerThreads,
} from "./server/threads/answer-threads.ts";
export { type ContextTask, serveThread } from "./server/threads/serve-thread.ts";
export { createIdentity } from "./server/tls/self-signed.ts";
export type { TlsOptions } from "./server/tls/tls-opener.ts";
export {
  paymentEventTypes,
  stateEventTypes,
  transferEventTypes,
  walletEventTypes,
} from "./wallet/event-types.ts";
export type { TransferType } from "./wallet/history.ts";
export type { IntentState } from "./wallet/intents.ts";
export { walletResources } from "./wallet/resources.ts";
export { wallet, walletMethods } from "./wallet/wallet.ts";
export { BadEndpoint, parseZmqEndpoint, type ZmqEndpoint } from "./zmq/endpoint.ts";
export { startZmqPublisher, type ZmqPublisher } from "./zmq/publisher.ts";
export { type ZmqLimits, zmqLimits } from "./zmq/zmq-limits.ts";
