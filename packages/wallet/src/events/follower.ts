/** Writes the events of a wallet's changes to an event log, each change once and in order. */

import { createHash, randomBytes } from "node:crypto";
import { runSliced } from "@anulo/limits";
import { equalBytes } from "@anulo/protocol";
import type { WalletChange } from "../changes.ts";
import { applyChange } from "../ledger/apply-change.ts";
import type { Ledger } from "../ledger/ledger.ts";
import { LazySet } from "../packed/lazy-map.ts";
import { EventDeriver } from "./deriver.ts";
import type { WalletEvent } from "./event.ts";
import type { Entry, Outbox } from "./outbox.ts";

/** Stores events of wallets; events at or below a source's cursor are not stored again. */
export interface EventSink {
  /** Number of the last stored change of a source (16 bytes); undefined for an unknown source. */
  cursorOf(source: Uint8Array): Promise<number | undefined>;
  append(entry: {
    readonly source: Uint8Array;
    readonly wallet: string;
    readonly change: number;
    readonly events: readonly WalletEvent[];
  }): Promise<void>;
}

export type FollowerOptions = {
  /** If left out, events are only stored in the outbox, and only of a wallet whose events a log has had before. */
  readonly sink?: EventSink | undefined;
  /** Name of the wallet in its events. */
  readonly wallet: string;
  /** Returns `count` random bytes. */
  readonly random: (count: number) => Uint8Array;
  /** Called when events can't be stored, once until they can be stored again. */
  readonly onFailure?: ((error: unknown) => void) | undefined;
  /** Milliseconds between two attempts to store events. */
  readonly retryMs?: number;
};

/** A source consists of this many random bytes, and as many that depend on them and on the wallet's name. */
const RANDOM_BYTES = 8;
const RETRY_MS = 5000;
/**
 * Maximum number of events that wait: beyond it, changes wait for the log; if the log can't be written, the rest stays
 * in the journal or the outbox.
 */
const MAX_WAITING = 10_000;

export class Follower {
  readonly #options: FollowerOptions;
  #ledger: Ledger | undefined;
  #deriver: EventDeriver | undefined;
  /** Of a wallet whose changes can't be read again; undefined for one with a journal. */
  #outbox: Outbox | undefined;
  /** False if the log does not have the earlier events: nothing is reported until a new source begins. */
  #isTelling = false;
  /** True if there is no log, if it could not be read when the wallet was opened, or not be written for too long. */
  #isLost: boolean;
  #isFailing = false;
  #isClosed = false;
  #cursor: number | undefined;
  #source: Uint8Array = new Uint8Array(0);
  /** The last change whose events were passed to the log, or that caused none. */
  #last: Entry | undefined;
  readonly #waiting: Entry[] = [];
  #waitingEvents = 0;
  #draining: Promise<void> | undefined;
  readonly #woken = new LazySet<() => void>();

  constructor(options: FollowerOptions) {
    this.#options = options;
    this.#isLost = options.sink === undefined;
  }

  /** Stores events in this outbox from the next `begin` on. */
  useOutbox(outbox: Outbox): void {
    this.#outbox = outbox;
  }

  /** Starts with a ledger as it is on disk; later changes have to be passed to `observe`. */
  async begin(ledger: Ledger): Promise<void> {
    const { eventSource, changeCount } = ledger.state;
    this.#ledger = ledger;
    if (this.#options.sink === undefined && eventSource.length === 0) return;
    this.#deriver = await EventDeriver.of(ledger);
    this.#source = eventSource;
    this.#isTelling = false;
    await this.#lookUp();
    const outbox = this.#outbox;
    const span = outbox?.span ?? { start: 0, after: changeCount, upTo: changeCount };
    const has = this.#cursor ?? span.start - 1;
    // What the log has is not known if it can't be read: then the events are only stored in the outbox.
    const goesOn = this.#isOwn(eventSource) && (this.#isLost || has >= span.after);
    if (!goesOn) return await outbox?.discard();
    // Not those of files that had another name.
    for await (const entry of outbox?.stored() ?? [])
      if (this.#isOwn(entry.source)) await this.keepSoon(entry);
    this.#isTelling = Math.max(has, span.upTo) >= changeCount;
    if (this.#isTelling) outbox?.begin({ ...span, upTo: changeCount });
  }

  /** Applies a change that is on disk already, and stores its events. */
  async replay(change: WalletChange, apply: () => void): Promise<void> {
    // Without a log, events are of use from the change on with which a log has once begun to have them.
    if (change.kind === "eventSource" && this.#ledger !== undefined)
      this.#deriver ??= await EventDeriver.of(this.#ledger);
    const entry = this.observe(change, apply);
    if (change.kind === "eventSource") await this.#lookUp();
    await this.keepSoon(entry);
  }

  /** Stores the events of a durable change, and waits if the log has much to write. */
  async keepSoon(entry: Entry | undefined): Promise<void> {
    this.keep(entry);
    await this.room();
  }

  async #lookUp(): Promise<void> {
    const { sink, onFailure } = this.#options;
    if (sink === undefined || !this.#isOwn(this.#source)) return;
    try {
      this.#cursor = await sink.cursorOf(this.#source);
      if (this.#cursor !== undefined) this.#outbox?.confirm(this.#cursor);
    } catch (error) {
      this.#isLost = true;
      onFailure?.(error);
    }
  }

  /**
   * The source to start with if the log lacks earlier events; undefined if the source continues. To be called once all
   * changes are read.
   */
  get newSource(): Uint8Array | undefined {
    const count = this.#ledger?.state.changeCount ?? 0;
    // A log that is ahead has received events of a later copy of this wallet's files.
    const goesOn = this.#isLost || (this.#isTelling && (this.#cursor ?? 0) <= count);
    return goesOn ? undefined : this.#sourceOf(this.#options.random(RANDOM_BYTES));
  }

  /** The change to be applied if an item's unlock time has passed by `seconds` (since 1970); otherwise undefined. */
  timePassed(seconds: number): WalletChange | undefined {
    const next = this.#isLost ? undefined : this.#deriver?.nextTime;
    return next !== undefined && next <= BigInt(seconds) ? { kind: "time", seconds } : undefined;
  }

  /** A change that tells more of what is left to be told; undefined once nothing is. */
  get rest(): WalletChange | undefined {
    if (this.#ledger === undefined || this.#deriver?.lost.hasMore !== true) return undefined;
    return { kind: "time", seconds: this.#ledger.state.passedSeconds };
  }

  /**
   * Whether the end of a scan to the tip has to be recorded with the pool (`isScanned`): until then the journal is
   * needed.
   */
  get waitsForScan(): boolean {
    return !this.#isLost && this.#deriver?.waitsForScan === true;
  }

  /** Reads what the events of a reset need, in slices before it: other changes may be observed meanwhile. */
  async prepareReset(): Promise<void> {
    if (this.#deriver !== undefined) await runSliced(this.#deriver.prepareReset());
  }

  /** Applies a change; the returned entry has to be passed to `keep` once the change is durable. */
  observe(change: WalletChange, apply: () => void): Entry | undefined {
    if (this.#deriver === undefined || this.#ledger === undefined) {
      apply();
      return undefined;
    }
    const events = this.#deriver.observe(change, apply);
    const { state } = this.#ledger;
    if (change.kind === "eventSource") {
      this.#source = state.eventSource;
      this.#cursor = undefined;
      this.#isTelling = this.#isOwn(this.#source);
      const start = state.changeCount;
      if (this.#isTelling) this.#outbox?.begin({ start, after: start - 1, upTo: start });
    }
    if (!this.#isTelling) {
      this.#deriver.lost.forget();
      return undefined;
    }
    const entry = { source: this.#source, change: state.changeCount, events };
    this.#outbox?.add(entry);
    return this.#isLost ? undefined : entry;
  }

  /** Stores the events of a durable change, in the order of the changes. */
  keep(entry: Entry | undefined): void {
    if (entry === undefined || this.#isLost) return;
    this.#last = entry;
    if (entry.events.length === 0 || entry.change <= (this.#cursor ?? 0)) return;
    this.#waiting.push(entry);
    this.#waitingEvents += entry.events.length;
    this.#draining ??= this.#drain();
    // The journal has all changes, from which their events are derived when the wallet is opened again, or the outbox
    // has the events.
    if (this.#isFailing && this.#waitingEvents > MAX_WAITING) this.#giveUp();
  }

  /** Waits while the log has much to write; does not wait if it can't be written. */
  async room(): Promise<void> {
    while (this.#waitingEvents > MAX_WAITING && !this.#isFailing && !this.#isLost) await this.#news();
  }

  /** Whether the log has confirmed all events, so that the journal is no longer needed. */
  async settled(): Promise<boolean> {
    await this.#tried();
    const { sink, wallet, onFailure } = this.#options;
    if (sink === undefined || this.#isLost || this.#waiting.length > 0) return false;
    const last = this.#last;
    if (last === undefined || last.change <= (this.#cursor ?? 0)) return true;
    try {
      await sink.append({ ...last, wallet, events: [] });
      this.#moveTo(last.change);
      return true;
    } catch (error) {
      onFailure?.(error);
      return false;
    }
  }

  #moveTo(change: number): void {
    this.#cursor = change;
    this.#outbox?.confirm(change);
  }

  /** Whether the log could not take events, so that the wallet has to be opened again for them. */
  get isUntold(): boolean {
    return this.#isLost && this.#options.sink !== undefined;
  }

  /** Writes the waiting events to the log, unless it can't be written. */
  async close(): Promise<void> {
    await this.settled();
    this.#isClosed = true;
    this.#wake();
  }

  /** Resolves once nothing waits, or writing has failed. */
  async #tried(): Promise<void> {
    while (this.#draining !== undefined && !this.#isFailing) await this.#news();
  }

  /** Resolves when the log has stored something, or has failed. */
  async #news(): Promise<void> {
    await new Promise<void>((wake) => this.#woken.add(wake));
  }

  #wake(): void {
    const woken = [...this.#woken];
    this.#woken.clear();
    for (const wake of woken) wake();
  }

  #giveUp(): void {
    this.#isLost = true;
    this.#waiting.length = 0;
    this.#waitingEvents = 0;
    this.#wake();
  }

  async #drain(): Promise<void> {
    const { sink, wallet, onFailure, retryMs = RETRY_MS } = this.#options;
    while (sink !== undefined && this.#waiting.length > 0 && !this.#isClosed) {
      const entry = this.#waiting[0]!;
      try {
        await sink.append({ ...entry, wallet });
        this.#isFailing = false;
        if (this.#waiting[0] !== entry) continue;
        this.#waiting.shift();
        this.#waitingEvents -= entry.events.length;
        this.#moveTo(entry.change);
        this.#wake();
      } catch (error) {
        if (!this.#isFailing) onFailure?.(error);
        this.#isFailing = true;
        this.#wake();
        await pause(retryMs);
      }
    }
    this.#draining = undefined;
    this.#wake();
  }

  /** A source id for the events from now on. */
  #sourceOf(random: Uint8Array): Uint8Array {
    const hash = createHash("sha256").update(random).update(this.#options.wallet).digest();
    return Uint8Array.from([...random, ...hash.subarray(0, RANDOM_BYTES)]);
  }

  /** Whether a source belongs to these files: a copy of them under another name is another source. */
  #isOwn(source: Uint8Array): boolean {
    return equalBytes(source, this.#sourceOf(source.subarray(0, RANDOM_BYTES)));
  }
}

/** For a service without an event log: the events of a wallet that had one wait in its outbox. */
export function followerWithoutLog(wallet: string): Follower {
  return new Follower({ wallet, random: randomBytes });
}

/**
 * Applies a change to a ledger; the result has to be passed to the follower, if there is one, once the change is
 * durable.
 */
export function applyTold(
  ledger: Ledger,
  change: WalletChange,
  follower: Follower | undefined,
): Entry | undefined {
  const apply = () => applyChange(ledger, change);
  if (follower !== undefined) return follower.observe(change, apply);
  apply();
  return undefined;
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms).unref();
  });
}
