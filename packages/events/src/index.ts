export { PartMissing, type SourceEntry } from "./append.ts";
export { type Clock, systemClock } from "./clock.ts";
export { EventLogInUse, EventLogRolledBack } from "./errors.ts";
export type { LoggedEvent, NewEvent } from "./event.ts";
export { formatJson, type Json, type JsonObject, packJson, unpackJson } from "./json.ts";
export {
  type DeliveryRows,
  type EventLog,
  type EventLogOptions,
  type EventPage,
  type EventQuery,
  hasEventLog,
  openEventLog,
} from "./log.ts";
export { type NatsSink, type NatsSinkOptions, openNatsSink } from "./nats/nats-sink.ts";
export type { DeadLetter } from "./webhooks/hook.ts";
export type { Resolve } from "./webhooks/post.ts";
export { matchesPattern } from "./webhooks/wallet-pattern.ts";
export {
  type NewWebhook,
  openWebhooks,
  type WebhookStatus,
  type Webhooks,
  type WebhooksOptions,
} from "./webhooks/webhooks.ts";
