import { createHash, randomBytes } from "node:crypto";
import {
  type Engine,
  Fenced,
  OutcomeUnknown,
  openWalletStore,
  RolledBack,
  StoreUnavailable,
  type WalletStore,
} from "@anulo/store";
import { appendStep, readCursor, type SourceEntry } from "./append.ts";
import { type Clock, systemClock } from "./clock.ts";
import { EventLogRolledBack } from "./errors.ts";
import { decodeEvent, type LoggedEvent } from "./event.ts";
import { GatheredWrites, type WriteStep } from "./gathered-writes.ts";
import { Lease } from "./lease.ts";
import { type LogState, readState, writeState } from "./log-state.ts";
import { LogStore } from "./log-store.ts";
import { sequenceKey, sequenceOf, tables } from "./tables.ts";

/** The id under which the log is stored among the wallets of its engine. */
const logId = createHash("sha256").update("anulo event log").digest().subarray(0, 16);
const ID_BYTES = 16;
const LEASE_MS = 6_000;
/** Maximum number of events per read. */
const MAX_EVENTS_READ = 1_000;
const MAX_ROWS_WALKED = 4_096;
const MAX_BYTES_READ = 1024 * 1024;
const ROWS_PER_PRUNING = 512;
const PRUNING_MS = 600_000;

export interface EventQuery {
  /** Sequence number; 0 for all. */
  readonly after: number;
  readonly limit: number;
  readonly wallet?: string;
  readonly types?: ReadonlySet<string>;
  /** Which wallets' events are returned; all by default. */
  readonly accepts?: (wallet: string) => boolean;
}

export interface EventPage {
  readonly events: LoggedEvent[];
  /** Sequence number to pass as `after` to the next read, even where the filter left out every event. */
  readonly next: number;
  /** Number of the oldest event, `last + 1` where there is none: events below it were pruned. */
  readonly oldest: number;
}

/** One ordered, durable list of the events of many wallets. */
export interface EventLog {
  /**
   * 32 hexadecimal digits, which change when the log is rolled back: together with a sequence number they identify an
   * event for ever.
   */
  readonly id: string;
  /** Number of the last event, 0 where there was none. */
  readonly last: number;
  /** Number of the oldest event that was not pruned. */
  readonly oldest: number;
  /** Aborts when the log is closed, or when another process or a failure of the store (its reason) ends it. */
  readonly ended: AbortSignal;
  /** Whether certainly no other process can have the log now: otherwise nothing of it may be delivered. */
  readonly isHeld: boolean;
  /**
   * Number of the last change of this source (16 bytes that never change) whose events are in the log; undefined for an
   * unknown source.
   */
  cursorOf(source: Uint8Array): Promise<number | undefined>;
  /**
   * Adds events and moves the source's cursor to `change`: once this resolves, they survive a loss of power. Concurrent
   * calls share a write. A change at or below the cursor adds nothing. More events than a group holds are written in
   * several groups: after an interruption, the same change with the same events continues where it stopped. Throws a
   * RangeError for an invalid event, `PartMissing`, and the errors of the store.
   */
  append(entry: SourceEntry): Promise<void>;
  /**
   * Returns events after a sequence number, oldest first, at most `limit`; fewer where they are large or the filter
   * leaves out many.
   */
  read(query: EventQuery): Promise<EventPage>;
  /** Resolves once there are events after this sequence number, or once the signal aborts. Rejects when the log has ended. */
  waitForEvent(after: number, signal: AbortSignal): Promise<void>;
  /** Rows for the state of deliveries, in the same store. */
  readonly rows: DeliveryRows;
  /** Waits for pending writes, then closes the log. The engine stays open. */
  close(): Promise<void>;
}

/** Rows in which deliveries keep their state. */
export interface DeliveryRows extends Pick<WalletStore, "read" | "range"> {
  /** Resolves once the step's rows are durable; concurrent steps share a write. */
  write(step: WriteStep): Promise<void>;
}

export interface EventLogOptions {
  readonly engine: Engine;
  /** 32 bytes; the caller keeps ownership. */
  readonly key: Uint8Array;
  /** Folder of this service, outside the engine, by which an older copy of the store is recognised. */
  readonly folder: string;
  readonly clock?: Clock;
  /** Events older than this are removed; by default none is. */
  readonly keepSeconds?: number;
  /** Milliseconds for which a process that has vanished keeps the log from others. */
  readonly leaseMs?: number;
  /** Opens a store that is an older copy, under a new `id`. */
  readonly acceptRolledBack?: boolean;
  /**
   * 16 bytes of processes among which something else decides who has the log, such as the leases of a fleet: the log is
   * taken at once from another of them.
   */
  readonly group?: Uint8Array | undefined;
  /** Whether the log is certainly this process's by whatever decides that among the group; true if left out. */
  readonly isSure?: (() => boolean) | undefined;
}

/**
 * Opens the log of an engine, or creates it. Throws `EventLogInUse`, `EventLogRolledBack`, and the errors of the store.
 */
export async function openEventLog(options: EventLogOptions): Promise<EventLog> {
  const { engine, clock = systemClock, leaseMs = LEASE_MS, group, isSure = () => true } = options;
  const ending = new AbortController();
  const lease = await Lease.acquire({ engine, clock, leaseMs, group }, (error) => ending.abort(error));
  let store: WalletStore | undefined;
  // The caller may wipe its own.
  const key = Uint8Array.from(options.key);
  try {
    const opened = await openStore(options);
    store = opened.store;
    const found = await readState(store);
    const state =
      found === undefined || opened.isRolledBack ? { oldest: 1, last: 0, ...found, id: newId() } : found;
    const log = new StoredEventLog(store, {
      key,
      open: async () => (await openStore({ ...options, key, acceptRolledBack: false })).store,
      state,
      clock,
      lease,
      ending,
      isSure,
      keepSeconds: options.keepSeconds,
    });
    await log.start();
    return log;
  } catch (error) {
    key.fill(0);
    await store?.close();
    await lease.release();
    throw error;
  }
}

/** Whether an engine has the rows of a log. Throws the errors of the engine. */
export async function hasEventLog(engine: Engine): Promise<boolean> {
  return (await engine.markOf(logId)) !== undefined;
}

const newId = (): string => randomBytes(ID_BYTES).toString("hex");

async function openStore({ engine, key, folder, acceptRolledBack }: EventLogOptions) {
  const options = { engine, wallet: logId, tables: Object.values(tables), wrappingKey: key, folder };
  const opened = await openWalletStore(options);
  if (opened.kind !== "rolledBack") return { store: opened.store, isRolledBack: false };
  if (acceptRolledBack !== true) throw new EventLogRolledBack();
  return { store: await opened.accept(), isRolledBack: true };
}

interface LogParts {
  /** Wiped when the log is closed. */
  readonly key: Uint8Array;
  /** Opens the store again. */
  readonly open: () => Promise<WalletStore>;
  readonly state: LogState;
  readonly clock: Clock;
  readonly lease: Lease;
  readonly ending: AbortController;
  readonly isSure: () => boolean;
  readonly keepSeconds: number | undefined;
}

class StoredEventLog implements EventLog {
  readonly rows: DeliveryRows;
  readonly #parts: LogParts;
  readonly #store: LogStore;
  readonly #writes: GatheredWrites;
  /** The state on disk, and the state after the group that is being written. */
  #state: LogState;
  #next: LogState;
  readonly #waiting = new Set<() => void>();
  #pruning: Promise<void> = Promise.resolve();

  constructor(opened: WalletStore, parts: LogParts) {
    this.#parts = parts;
    this.#state = parts.state;
    this.#next = parts.state;
    const { lease, clock, open, ending } = parts;
    const end = (error: unknown) => ending.abort(error);
    const load = (again: WalletStore) => this.#load(again);
    this.#store = new LogStore(opened, { lease, clock, ended: ending.signal, open, load, end });
    const store = () => this.#store.current;
    this.#writes = new GatheredWrites({
      store,
      begin: () => {
        this.#next = this.#state;
      },
      seal: (rows) => {
        if (this.#next !== this.#state) rows.put(writeState(this.#next));
      },
      settle: (isWritten) => {
        if (isWritten) this.#move();
      },
    });
    this.rows = {
      read: (table, key) => store().read(table, key),
      range: (table, range) => store().range(table, range),
      write: (step) => this.#submit(step),
    };
    this.ended.addEventListener("abort", () => this.#wake());
  }

  /** Writes the record of a new log, and begins to prune. */
  async start(): Promise<void> {
    await this.#store.current.apply({ puts: [writeState(this.#state)] });
    this.#pruning = this.#prune();
  }

  get id(): string {
    return this.#state.id;
  }

  get last(): number {
    return this.#state.last;
  }

  get oldest(): number {
    return this.#state.oldest;
  }

  get ended(): AbortSignal {
    return this.#parts.ending.signal;
  }

  get isHeld(): boolean {
    return !this.ended.aborted && this.#parts.isSure();
  }

  async cursorOf(source: Uint8Array): Promise<number | undefined> {
    this.ended.throwIfAborted();
    return (await readCursor(this.#store.current, source))?.change;
  }

  async append(entry: SourceEntry): Promise<void> {
    const { clock } = this.#parts;
    const time = Math.floor(clock.now() / 1000);
    const step = appendStep(entry, {
      store: () => this.#store.current,
      time,
      nextSequence: () => {
        this.#next = { ...this.#next, last: this.#next.last + 1 };
        return this.#next.last;
      },
    });
    await this.#submit(step);
  }

  async read({ after, limit, wallet, types, accepts }: EventQuery): Promise<EventPage> {
    this.ended.throwIfAborted();
    const store = this.#store.current;
    const { last, oldest } = this.#state;
    const events: LoggedEvent[] = [];
    let next = Math.min(Math.max(after, oldest - 1), last);
    const range = { from: sequenceKey(next + 1), to: sequenceKey(last + 1), limit: MAX_ROWS_WALKED };
    const most = Math.min(limit, MAX_EVENTS_READ);
    let bytes = 0;
    if (next >= last || most <= 0) return { events, next, oldest };
    for await (const { key, value } of store.range(tables.events, range)) {
      const event = decodeEvent(sequenceOf(key), value);
      next = event.sequence;
      if (wallet !== undefined && event.wallet !== wallet) continue;
      if (accepts?.(event.wallet) === false) continue;
      if (types !== undefined && !types.has(event.type)) continue;
      events.push(event);
      bytes += value.length;
      if (events.length >= most || bytes >= MAX_BYTES_READ) break;
    }
    return { events, next, oldest };
  }

  async waitForEvent(after: number, signal: AbortSignal): Promise<void> {
    while (this.last <= after && !signal.aborted) {
      this.ended.throwIfAborted();
      await new Promise<void>((resolve) => {
        const wake = () => {
          signal.removeEventListener("abort", wake);
          this.#waiting.delete(wake);
          resolve();
        };
        signal.addEventListener("abort", wake);
        this.#waiting.add(wake);
      });
    }
  }

  async close(): Promise<void> {
    const { ending, key, lease } = this.#parts;
    ending.abort(new StoreUnavailable("the event log is closed"));
    await this.#pruning;
    await this.#writes.settled();
    await this.#store.close();
    key.fill(0);
    await lease.release();
  }

  async #submit(step: WriteStep): Promise<void> {
    this.ended.throwIfAborted();
    try {
      await this.#writes.submit(step);
    } catch (error) {
      if (error instanceof OutcomeUnknown) this.#store.reopen();
      else if (isFinal(error)) this.#parts.ending.abort(error);
      throw error;
    }
  }

  /** The state of the store that was opened again: the change in question is in it, or is not. */
  async #load(store: WalletStore): Promise<void> {
    const found = await readState(store);
    if (found?.id !== this.#state.id) throw new EventLogRolledBack();
    this.#next = found;
    this.#move();
  }

  #move(): void {
    const hasGrown = this.#next.last > this.#state.last;
    this.#state = this.#next;
    if (hasGrown) this.#wake();
  }

  #wake(): void {
    for (const wake of [...this.#waiting]) wake();
  }

  async #prune(): Promise<void> {
    const { clock, keepSeconds } = this.#parts;
    if (keepSeconds === undefined) return;
    while (!this.ended.aborted) {
      const isDone = await this.#pruneStep(Math.floor(clock.now() / 1000) - keepSeconds).catch(() => true);
      if (isDone) await clock.delay(PRUNING_MS, this.ended);
    }
  }

  /** Removes the oldest events that were added before `before`; returns whether all of them are removed. */
  async #pruneStep(before: number): Promise<boolean> {
    const store = this.#store.current;
    const keys: Uint8Array[] = [];
    for await (const { key, value } of store.range(tables.events, { limit: ROWS_PER_PRUNING })) {
      if (decodeEvent(sequenceOf(key), value).time >= before) break;
      keys.push(key);
    }
    const last = keys.at(-1);
    if (last === undefined) return true;
    await this.#submit(async (rows) => {
      for (const key of keys) rows.delete({ table: tables.events, key });
      this.#next = { ...this.#next, oldest: sequenceOf(last) + 1 };
      return true;
    });
    return keys.length < ROWS_PER_PRUNING;
  }
}

/** Whether the log is another process's, or an older copy. */
const isFinal = (error: unknown): boolean => error instanceof Fenced || error instanceof RolledBack;
