import { setTimeout as delay, setImmediate } from "node:timers/promises";
import {
  addressBlock,
  ByteBudget,
  type ByteReservation,
  type CostLimits,
  type LoopLoad,
  type MaybePromise,
  SharedTurns,
  WorkBudget,
} from "@anulo/limits";
import { isExpensive } from "../costs.ts";
import { FairTurns, MAX_PAUSE_MS } from "./fair-turns.ts";
import { byteCosts, type Limits } from "./limits.ts";
import { RowMeter } from "./row-meter.ts";

/** Milliseconds of work that strangers may have saved up: while they use it, the owner gets one response a turn. */
const BURST_MS = 100;

const MiB = 2 ** 20;

/** The part of a share that one IP address or token uses. */
type Use = {
  /** The address, or the token's id after a prefix. */
  readonly key: string;
  readonly isOfToken: boolean;
  /** Memory of incoming requests, and of their parsed values. */
  readonly requestBytes: ByteBudget;
  /** Memory of responses under construction, and of their unsent parts. */
  readonly responseBytes: ByteBudget;
  connections: number;
  requests: number;
  streams: number;
  expensive: number;
};

/** The fraction of a share's memory that one token may use. */
const TOKENS_SHARE = 1 / 4;

/** The memory of a response, from before it is built until its last byte is sent. */
export interface ResponseHold {
  /** Returns false if there is no memory left for this number of bytes. */
  resize(bytes: number): boolean;
  release(): void;
}

/** Permission to build a response. */
export interface Admission {
  readonly hold: ResponseHold;
  /** To be called once it is built: another expensive call may start then. */
  end(): void;
}

type Waiting = {
  readonly caller: Caller;
  readonly bytes: number;
  readonly isExpensive: boolean;
  readonly admit: (admission: Admission | undefined) => void;
};

/** The sender of the requests of one connection, and whether it is still connected. */
export class Caller {
  readonly remoteAddress: string;
  readonly share: CallerShare;
  readonly rows: RowMeter;
  #use: Use;
  #request: ByteReservation;
  #controller: AbortController | undefined;
  #leaving: AbortController | undefined;
  #isGone = false;
  #hasLeft = false;

  constructor(share: CallerShare, remoteAddress: string, use: Use) {
    this.remoteAddress = remoteAddress;
    this.share = share;
    this.rows = new RowMeter(share.rowsRead, {
      onWork: (milliseconds) => share.charge(milliseconds),
      turns: share.turns,
      pause: () => this.#nextSlice(),
    });
    this.#use = use;
    this.#request = use.requestBytes.reserve(0)!;
  }

  onWork(milliseconds: number): void {
    this.share.charge(milliseconds);
  }

  /** Pauses a call between two slices until its share has time again, so that calls under way take no more than it. */
  async #nextSlice(): Promise<void> {
    await (this.share.turns?.next() ?? setImmediate());
    while (this.share.waitMs > 0 && !this.#hasLeft) await delay(Math.min(this.share.waitMs, MAX_PAUSE_MS));
  }

  /** The part of the share that counts its requests. */
  get use(): Use {
    return this.#use;
  }

  /** Memory of the request that is being received or processed. */
  get request(): ByteReservation {
    return this.#request;
  }

  /** Its next requests count for another address or token; between two requests it holds no memory. */
  become(use: Use): void {
    this.#request.release();
    this.#use = use;
    this.#request = use.requestBytes.reserve(0)!;
  }

  get hasLeft(): boolean {
    return this.#hasLeft;
  }

  /** Aborted when the caller leaves, or has probably left. */
  get signal(): AbortSignal {
    this.#controller ??= new AbortController();
    if (this.#isGone) this.#controller.abort();
    return this.#controller.signal;
  }

  /** Aborted only when the connection is closed: a caller that has closed just its side may still wait for a response. */
  get leftSignal(): AbortSignal {
    this.#leaving ??= new AbortController();
    if (this.#hasLeft) this.#leaving.abort();
    return this.#leaving.signal;
  }

  /** Whether the signal is aborted. */
  get isGone(): boolean {
    return this.#isGone;
  }

  /** The caller has probably left: reading calls are aborted, and calls that act still get their response. */
  abandon(): void {
    this.#isGone = true;
    this.#controller?.abort();
  }

  /** Aborts the work for the caller. */
  leave(): void {
    if (this.#hasLeft) return;
    this.#hasLeft = true;
    this.#leaving?.abort();
    this.request.release();
    this.abandon();
    this.share.close(this);
  }
}

/**
 * What the owner of a service, or all strangers together, may use of it. The two shares do not compete with each other.
 */
export class CallerShare {
  readonly limits: Limits;
  /** What long calls of strangers share of each turn of the event loop; undefined for the owner's. */
  readonly turns: SharedTurns | undefined;
  /** Number of database rows that were read for all callers. */
  readonly rowsRead: () => number;
  readonly #requestBytes: ByteBudget;
  readonly #responseBytes: ByteBudget;
  readonly #uses = new Map<string, Use>();
  readonly #tokenTurns = new FairTurns();
  readonly #strangersTurns: FairTurns | undefined;
  /** Processor time of all its callers; undefined where it is not limited. */
  readonly #work: WorkBudget | undefined;
  readonly #loopLoad: LoopLoad | undefined;
  #waiting: Waiting[] = [];
  #requests = 0;
  #streams = 0;
  #expensive = 0;

  /** Without `rowsRead`, no rows are counted. */
  constructor(
    limits: Limits,
    options: {
      readonly isForStrangers: boolean;
      readonly rowsRead?: (() => number) | undefined;
      /** Milliseconds since an arbitrary start; never decreases. */
      readonly now?: () => number;
      /** How many times its measured time work counts; once without. */
      readonly loopLoad?: LoopLoad;
    },
  ) {
    this.limits = limits;
    this.#loopLoad = options.loopLoad;
    this.rowsRead = options.rowsRead ?? (() => 0);
    const { isForStrangers, now = () => performance.now() } = options;
    const share = limits.eventLoopShare;
    this.#work = Number.isFinite(share) ? new WorkBudget({ share, burstMs: BURST_MS, now }) : undefined;
    this.turns = isForStrangers ? new SharedTurns() : undefined;
    this.#strangersTurns = isForStrangers ? new FairTurns(this.#work) : undefined;
    this.#responseBytes = new ByteBudget(limits.heldBytes);
    // At most half, so that requests that wait for memory never block one another.
    this.#requestBytes = new ByteBudget(limits.heldBytes / 2, this.#responseBytes);
  }

  /** Bytes used by requests and responses. */
  get heldBytes(): number {
    return this.#responseBytes.used;
  }

  /** Number of requests that are being processed, or wait for it. */
  get requests(): number {
    return this.#requests;
  }

  /** Opens the accounting of a new connection. */
  open(remoteAddress: string): Caller {
    const use = this.#useOf(addressBlock(remoteAddress), false);
    use.connections++;
    return new Caller(this, remoteAddress, use);
  }

  /** Counts the next request for a token, or for the caller's address if it has no token. */
  identify(caller: Caller, token: string | undefined): void {
    const key = token === undefined ? addressBlock(caller.remoteAddress) : `token ${token}`;
    const old = caller.use;
    if (old.key === key) return;
    const use = this.#useOf(key, token !== undefined);
    use.connections++;
    caller.become(use);
    old.connections--;
    this.#forget(old);
  }

  #useOf(key: string, isOfToken: boolean): Use {
    const existing = this.#uses.get(key);
    if (existing !== undefined) return existing;
    const { heldBytes, heldBytesPerAddress } = this.limits;
    const bytes = isOfToken ? heldBytes * TOKENS_SHARE : heldBytesPerAddress;
    const use = {
      key,
      isOfToken,
      requestBytes: new ByteBudget(bytes / 2, this.#requestBytes),
      responseBytes: new ByteBudget(bytes, this.#responseBytes),
      connections: 0,
      requests: 0,
      streams: 0,
      expensive: 0,
    };
    this.#uses.set(key, use);
    return use;
  }

  /** Releases a caller; the counts of an address or token are removed with its last connection and request. */
  close(caller: Caller): void {
    caller.use.connections--;
    const waiting = this.#waiting.find((other) => other.caller === caller);
    if (waiting !== undefined) this.#giveUp(waiting);
    this.#forget(caller.use);
  }

  /** Counts a request; false if too many are being processed. */
  begin({ use }: Caller): boolean {
    const { requests, requestsPerAddress } = this.limits;
    if (this.#requests >= requests || use.requests >= requestsPerAddress) return false;
    if (takesTooMuch(use, use.requests, requests - this.#requests)) return false;
    this.#requests++;
    use.requests++;
    return true;
  }

  end(caller: Caller): void {
    this.#requests--;
    caller.use.requests--;
    this.#forget(caller.use);
  }

  /** Counts an open stream, whose request stays open as long; false if too many are open. */
  beginStream({ use }: Caller): boolean {
    const { streams, streamsPerAddress } = this.limits;
    if (this.#streams >= streams || use.streams >= streamsPerAddress) return false;
    if (takesTooMuch(use, use.streams, streams - this.#streams)) return false;
    this.#streams++;
    use.streams++;
    return true;
  }

  endStream({ use }: Caller): void {
    this.#streams--;
    use.streams--;
  }

  #forget(use: Use): void {
    const isUnused = use.connections === 0 && use.requests === 0 && use.responseBytes.used === 0;
    if (isUnused && this.#uses.get(use.key) === use) this.#uses.delete(use.key);
  }

  /**
   * Waits until a request may start: those of strangers, address by address, for a few milliseconds in each turn of the
   * event loop and within their part of its time, so that the owner's get processed in between, however many there are.
   * Requests of tokens take turns.
   */
  turn({ use }: Pick<Caller, "use">): MaybePromise<void> {
    if (use.isOfToken) return this.#tokenTurns.wait(use.key);
    if (this.#strangersTurns !== undefined) return this.#strangersTurns.wait(use.key);
  }

  /** Counts milliseconds of work for callers of this share. */
  charge(milliseconds: number): void {
    this.#work?.charge(milliseconds * (this.#loopLoad?.factor ?? 1));
  }

  /** Counts what bytes cost that were received from a caller, beside the processing of them. */
  chargeReceived(bytes: number): void {
    this.charge((bytes / MiB) * byteCosts.requestMsPerMiB);
  }

  /** Counts what bytes of a response cost, beside creating it. */
  chargeSent(bytes: number): void {
    this.charge((bytes / MiB) * byteCosts.responseMsPerMiB);
  }

  /** Milliseconds until callers of this share have time again; 0 if they have, or are not limited. */
  get waitMs(): number {
    return this.#work?.waitMs ?? 0;
  }

  /** Counts the time until `run` returns. */
  measure<T>(run: () => T): T {
    if (this.#work === undefined) return run();
    const startedAt = performance.now();
    try {
      return run();
    } finally {
      this.charge(performance.now() - startedAt);
    }
  }

  /**
   * Waits until a response of at most this cost may be built; undefined if the caller leaves before, or has waited too
   * long.
   */
  admit(caller: Caller, cost: CostLimits): MaybePromise<Admission | undefined> {
    const { heldBytes, heldBytesPerAddress, reservedBytes, slowMs } = this.limits;
    // Never more than requests leave free, however low the limits are set.
    const most = Math.min(heldBytes, heldBytesPerAddress) / 2;
    const bytes = Math.min(cost.responseBytes, reservedBytes, most);
    const request = { caller, bytes, isExpensive: isExpensive(cost) };
    if (caller.hasLeft) return undefined;
    const admission = this.#waiting.length === 0 ? this.#tryAdmit(request) : undefined;
    if (admission !== undefined) return admission;
    return new Promise((resolve) => {
      const timer = setTimeout(() => this.#giveUp(waiting), slowMs);
      const admit = (admitted: Admission | undefined) => {
        clearTimeout(timer);
        resolve(admitted);
      };
      const waiting = { ...request, admit };
      this.#waiting.push(waiting);
      // Requests before it may wait for resources that this one does not need.
      this.admitWaiting();
    });
  }

  #giveUp(waiting: Waiting): void {
    this.#waiting = this.#waiting.filter((other) => other !== waiting);
    waiting.admit(undefined);
  }

  #tryAdmit({ caller, bytes, isExpensive: takesSlot }: Omit<Waiting, "admit">): Admission | undefined {
    const { use } = caller;
    const free = this.limits.expensiveCalls - this.#expensive;
    if (takesSlot && (free <= 0 || takesTooMuch(use, use.expensive, free))) return undefined;
    const reservation = use.responseBytes.reserve(bytes);
    if (reservation === undefined) return undefined;
    if (takesSlot) {
      this.#expensive++;
      use.expensive++;
    }
    return new Grant(caller, reservation, takesSlot);
  }

  /** A response has released its memory. */
  returned(use: Use): void {
    this.admitWaiting();
    this.#forget(use);
  }

  /** An expensive call has ended. */
  freeSlot(use: Use): void {
    this.#expensive--;
    use.expensive--;
    this.admitWaiting();
  }

  /** Admits in order; a request that lacks only its own resources, or a slot, does not delay the others. */
  admitWaiting(): void {
    if (this.#waiting.length === 0) return;
    const stillWaiting: Waiting[] = [];
    let isFull = false;
    for (const waiting of this.#waiting) {
      const admission = isFull ? undefined : this.#tryAdmit(waiting);
      if (admission !== undefined) waiting.admit(admission);
      else {
        stillWaiting.push(waiting);
        isFull ||= waiting.bytes > this.#responseBytes.available;
      }
    }
    this.#waiting = stillWaiting;
  }
}

/**
 * Whether a token uses as much as is still free: thus one token may have half, two a third each, and some is always
 * left for the next.
 */
function takesTooMuch({ isOfToken }: Use, used: number, free: number): boolean {
  return isOfToken && used > 0 && used >= free;
}

/** A class, since there is one object per request. */
class Grant implements Admission, ResponseHold {
  readonly #share: CallerShare;
  readonly #use: Use;
  readonly #reservation: ByteReservation;
  #hasSlot: boolean;

  constructor(caller: Caller, reservation: ByteReservation, hasSlot: boolean) {
    this.#share = caller.share;
    this.#use = caller.use;
    this.#reservation = reservation;
    this.#hasSlot = hasSlot;
  }

  get hold(): ResponseHold {
    return this;
  }

  resize(bytes: number): boolean {
    const isLess = bytes < this.#reservation.bytes;
    const isHeld = this.#reservation.resize(bytes);
    if (isLess) this.#share.admitWaiting();
    return isHeld;
  }

  release(): void {
    this.#reservation.release();
    this.#share.returned(this.#use);
  }

  end(): void {
    if (!this.#hasSlot) return;
    this.#hasSlot = false;
    this.#share.freeSlot(this.#use);
  }
}
