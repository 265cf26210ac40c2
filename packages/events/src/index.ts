export type { SourceEntry } from "./append.ts";
export { type Clock, systemClock } from "./clock.ts";
export { EventLogInUse, EventLogRolledBack } from "./errors.ts";
export type { LoggedEvent, NewEvent } from "./event.ts";
export { formatJson, type Json, type JsonObject } from "./json.ts";
export {
  type DeliveryRows,
  type EventLog,
  type EventLogOptions,
  type EventPage,
  type EventQuery,
  openEventLog,
} from "./log.ts";
