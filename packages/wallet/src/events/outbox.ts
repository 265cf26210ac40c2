/** Where the events of a wallet's changes wait until an event log has them. */
import type { WalletEvent } from "./event.ts";

/** The events of a change. */
export type Entry = {
  /** 16 bytes: the source that counts the change. */
  readonly source: Uint8Array;
  readonly change: number;
  readonly events: readonly WalletEvent[];
};

/** The changes whose events an outbox has: all after one change, up to another. */
export type OutboxSpan = {
  /** Number of the change with which the source began: a log that does not know the source has all before it. */
  readonly start: number;
  /** Events of this change and of those before it are in the log. */
  readonly after: number;
  /** Events of later changes are lost: there was no room for them, or nobody derived them. */
  readonly upTo: number;
};

/**
 * The events that a log has not confirmed, of a wallet whose changes can't be read again. They become durable in the
 * same step as the changes that cause them.
 */
export interface Outbox {
  /** Undefined for a wallet that is not in its store yet. */
  readonly span: OutboxSpan | undefined;
  /** The entries that are stored, lowest change first. */
  stored(): AsyncIterable<Entry>;
  /** Drops what is stored: no log can go on from it. */
  discard(): Promise<void>;
  /** Takes the events of all later changes from now on: those of a change have to be added when it is applied. */
  begin(span: OutboxSpan): void;
  add(entry: Entry): void;
  /** Tells that a log has the events of this change and of those before it. */
  confirm(change: number): void;
}
