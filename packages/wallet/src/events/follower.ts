/** Brings what a wallet's changes mean into an event log, each change once and in order. */
import { createHash } from "node:crypto";
import { equalBytes } from "@anulo/protocol";
import type { WalletChange } from "../changes.ts";
import { applyChange } from "../ledger/apply-change.ts";
import type { Ledger } from "../ledger/ledger.ts";
import { EventDeriver } from "./deriver.ts";
import type { WalletEvent } from "./event.ts";

/** Where events of wallets are kept; what is at or below a source's cursor is not kept again. */
export interface EventSink {
  /** Number of the last change of a source (16 bytes) that is kept; undefined for a source never seen. */
  cursorOf(source: Uint8Array): Promise<number | undefined>;
  append(entry: {
    readonly source: Uint8Array;
    readonly wallet: string;
    readonly change: number;
    readonly events: readonly WalletEvent[];
  }): Promise<void>;
}

export type FollowerOptions = {
  readonly sink: EventSink;
  /** Name of the wallet in its events. */
  readonly wallet: string;
  /** That many random bytes. */
  readonly random: (count: number) => Uint8Array;
  /** Told that events can't be kept, once until they can again. */
  readonly onFailure: (error: unknown) => void;
  /** Milliseconds between two tries to keep what could not be kept. */
  readonly retryMs?: number;
};

/** What a change means, to be kept once the change is durable. */
type Entry = {
  readonly source: Uint8Array;
  readonly change: number;
  readonly events: readonly WalletEvent[];
};

/** A source is as many random bytes, and as many that depend on them and on the wallet's name. */
const RANDOM_BYTES = 8;
const RETRY_MS = 5000;
/** Events that may wait: beyond, changes wait for the log; where it can't be written, the rest is left in the journal. */
const MAX_WAITING = 10_000;

export class Follower {
  readonly #options: FollowerOptions;
  #ledger: Ledger | undefined;
  #deriver: EventDeriver | undefined;
  /** False where the log does not know what came before: nothing is told until a new source begins. */
  #isTelling = false;
  /** The log could not be read when the wallet was opened, or not be written for too long. */
  #isLost = false;
  #isFailing = false;
  #isClosed = false;
  #cursor: number | undefined;
  #source: Uint8Array = new Uint8Array(0);
  /** The last change whose events were given to the log, or that meant nothing. */
  #last: Entry | undefined;
  readonly #waiting: Entry[] = [];
  #waitingEvents = 0;
  #draining: Promise<void> | undefined;
  readonly #woken = new Set<() => void>();

  constructor(options: FollowerOptions) {
    this.#options = options;
  }

  /** Begins with a ledger as it is on disk; its later changes are to be given to `observe`. */
  async begin(ledger: Ledger): Promise<void> {
    const { eventSource, changeCount } = ledger.state;
    this.#ledger = ledger;
    this.#deriver = await EventDeriver.of(ledger);
    this.#source = eventSource;
    await this.#lookUp();
    this.#isTelling = this.#cursor !== undefined && this.#cursor >= changeCount;
  }

  /** Has a change applied that is on disk already, and keeps what it means. */
  async replay(change: WalletChange, apply: () => void): Promise<void> {
    const entry = this.observe(change, apply);
    if (change.kind === "eventSource") await this.#lookUp();
    await this.keepSoon(entry);
  }

  /** Keeps what a durable change means, and waits where the log has much to write. */
  async keepSoon(entry: Entry | undefined): Promise<void> {
    this.keep(entry);
    await this.room();
  }

  async #lookUp(): Promise<void> {
    if (!this.#isOwn(this.#source)) return;
    try {
      this.#cursor = await this.#options.sink.cursorOf(this.#source);
    } catch (error) {
      this.#isLost = true;
      this.#options.onFailure(error);
    }
  }

  /** The source to begin with where the log lacks what came before; undefined where it goes on. Once all is read. */
  get newSource(): Uint8Array | undefined {
    const count = this.#ledger?.state.changeCount ?? 0;
    // A log that is ahead has seen a later copy of this wallet's files.
    const goesOn = this.#isLost || (this.#isTelling && (this.#cursor ?? 0) <= count);
    return goesOn ? undefined : this.#sourceOf(this.#options.random(RANDOM_BYTES));
  }

  /** The change to be made where money is locked until a time that has passed by `seconds` (since 1970). */
  timePassed(seconds: number): WalletChange | undefined {
    const next = this.#isLost ? undefined : this.#deriver?.nextTime;
    return next !== undefined && next <= BigInt(seconds) ? { kind: "time", seconds } : undefined;
  }

  /** Whether the end of a scan to the tip is to be noted with the pool (`isScanned`): until then the journal tells why. */
  get waitsForScan(): boolean {
    return !this.#isLost && this.#deriver?.waitsForScan === true;
  }

  /** Has a change applied; what it means is to be given to `keep` once the change is durable. */
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
    }
    if (!this.#isTelling || this.#isLost) return undefined;
    return { source: this.#source, change: state.changeCount, events };
  }

  /** Keeps what a durable change means, in the order of the changes. */
  keep(entry: Entry | undefined): void {
    if (entry === undefined || this.#isLost) return;
    this.#last = entry;
    if (entry.events.length === 0 || entry.change <= (this.#cursor ?? 0)) return;
    this.#waiting.push(entry);
    this.#waitingEvents += entry.events.length;
    this.#draining ??= this.#drain();
    // All of it is in the journal, from which it is told when the wallet is opened again.
    if (this.#isFailing && this.#waitingEvents > MAX_WAITING) this.#giveUp();
  }

  /** Waits while the log has much to write; not while it can't. */
  async room(): Promise<void> {
    while (this.#waitingEvents > MAX_WAITING && !this.#isFailing && !this.#isLost) await this.#news();
  }

  /** Whether the log has all that was given, and says so: the journal is needed no more. */
  async settled(): Promise<boolean> {
    await this.#tried();
    if (this.#isLost || this.#waiting.length > 0) return false;
    const last = this.#last;
    if (last === undefined || last.change <= (this.#cursor ?? 0)) return true;
    try {
      await this.#options.sink.append({ ...last, wallet: this.#options.wallet, events: [] });
      this.#cursor = last.change;
      return true;
    } catch (error) {
      this.#options.onFailure(error);
      return false;
    }
  }

  /** Gives the log what waits, unless it can't be written. */
  async close(): Promise<void> {
    await this.settled();
    this.#isClosed = true;
    this.#wake();
  }

  /** Settles once nothing waits, or it was tried in vain. */
  async #tried(): Promise<void> {
    while (this.#draining !== undefined && !this.#isFailing) await this.#news();
  }

  /** Settles when the log has taken something, or can't. */
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
    while (this.#waiting.length > 0 && !this.#isClosed) {
      const entry = this.#waiting[0]!;
      try {
        await sink.append({ ...entry, wallet });
        this.#isFailing = false;
        if (this.#waiting[0] !== entry) continue;
        this.#waiting.shift();
        this.#waitingEvents -= entry.events.length;
        this.#cursor = entry.change;
        this.#wake();
      } catch (error) {
        if (!this.#isFailing) onFailure(error);
        this.#isFailing = true;
        this.#wake();
        await pause(retryMs);
      }
    }
    this.#draining = undefined;
    this.#wake();
  }

  /** A name of its own for what is told from now on. */
  #sourceOf(random: Uint8Array): Uint8Array {
    const hash = createHash("sha256").update(random).update(this.#options.wallet).digest();
    return Uint8Array.from([...random, ...hash.subarray(0, RANDOM_BYTES)]);
  }

  /** A copy of the files under another name is another source. */
  #isOwn(source: Uint8Array): boolean {
    return equalBytes(source, this.#sourceOf(source.subarray(0, RANDOM_BYTES)));
  }
}

/** Moves a ledger by a change; what it means is to be given to the follower, if there is one, once it is durable. */
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
