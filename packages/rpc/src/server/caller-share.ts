import {
  ByteBudget,
  type ByteReservation,
  type CostLimits,
  type MaybePromise,
  TimeSlice,
} from "@anulo/limits";
import { isExpensive } from "../costs.ts";
import { FairTurns } from "./fair-turns.ts";
import type { Limits } from "./limits.ts";

/** Milliseconds of one turn of the event loop in which requests of strangers are begun. */
const TURN_MS = 10;

/** What one IP address or token takes of a share. */
type Use = {
  /** The address, or the token's id after a word. */
  readonly key: string;
  readonly isOfToken: boolean;
  /** Requests coming in, and what was parsed of them. */
  readonly requestBytes: ByteBudget;
  /** Responses being made, and what is not sent of them. */
  readonly responseBytes: ByteBudget;
  connections: number;
  requests: number;
  streams: number;
  expensive: number;
};

/** What one token may take of the memory of a share. */
const TOKENS_SHARE = 1 / 4;

/** A response's memory, from before it is made until its last byte is sent. */
export interface ResponseHold {
  /** False where there is no memory left for so many bytes. */
  resize(bytes: number): boolean;
  release(): void;
}

/** Leave to make a response. */
export interface Admission {
  readonly hold: ResponseHold;
  /** To be called once it is made: another call that takes long may begin. */
  end(): void;
}

type Waiting = {
  readonly caller: Caller;
  readonly bytes: number;
  readonly isExpensive: boolean;
  readonly admit: (admission: Admission | undefined) => void;
};

/** Who sends requests over one connection, and whether they are still there. */
export class Caller {
  readonly remoteAddress: string;
  readonly share: CallerShare;
  #use: Use;
  #request: ByteReservation;
  #controller: AbortController | undefined;
  #isGone = false;
  #hasLeft = false;

  constructor(share: CallerShare, remoteAddress: string, use: Use) {
    this.remoteAddress = remoteAddress;
    this.share = share;
    this.#use = use;
    this.#request = use.requestBytes.reserve(0)!;
  }

  /** Whose part of the share its requests take. */
  get use(): Use {
    return this.#use;
  }

  /** Memory of the request that is coming in, or being answered. */
  get request(): ByteReservation {
    return this.#request;
  }

  /** Its next requests are another's; between two of them it holds nothing. */
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

  /** Whether the signal is aborted. */
  get isGone(): boolean {
    return this.#isGone;
  }

  /** Nobody seems to wait any more: what only reads is ended, and what acts still gets its response. */
  abandon(): void {
    this.#isGone = true;
    this.#controller?.abort();
  }

  /** Ends what is done for the caller. */
  leave(): void {
    if (this.#hasLeft) return;
    this.#hasLeft = true;
    this.request.release();
    this.abandon();
    this.share.close(this);
  }
}

/**
 * What the owner of a service, or all strangers together, may take of it. What one of the two takes is not lacking
 * to the other.
 */
export class CallerShare {
  readonly limits: Limits;
  readonly #isForStrangers: boolean;
  readonly #requestBytes: ByteBudget;
  readonly #responseBytes: ByteBudget;
  readonly #uses = new Map<string, Use>();
  readonly #tokenTurns = new FairTurns();
  #waiting: Waiting[] = [];
  #requests = 0;
  #streams = 0;
  #expensive = 0;
  /** Of this turn of the event loop, from the first request in it on. */
  #turn: TimeSlice | undefined;

  constructor(limits: Limits, options: { readonly isForStrangers: boolean }) {
    this.limits = limits;
    this.#isForStrangers = options.isForStrangers;
    this.#responseBytes = new ByteBudget(limits.heldBytes);
    // Half at most, so that requests that wait to be answered never keep one another from it.
    this.#requestBytes = new ByteBudget(limits.heldBytes / 2, this.#responseBytes);
  }

  /** Bytes that requests and responses take. */
  get heldBytes(): number {
    return this.#responseBytes.used;
  }

  /** Requests being answered, or waiting for it. */
  get requests(): number {
    return this.#requests;
  }

  /** A new connection. */
  open(remoteAddress: string): Caller {
    const use = this.#useOf(remoteAddress, false);
    use.connections++;
    return new Caller(this, remoteAddress, use);
  }

  /** The request that is about to come in counts for a token, or for the caller's address where it has none. */
  identify(caller: Caller, token: string | undefined): void {
    const key = token === undefined ? caller.remoteAddress : `token ${token}`;
    const old = caller.use;
    if (old.key === key) return;
    const use = this.#useOf(key, token !== undefined);
    use.connections++;
    caller.become(use);
    old.connections--;
    this.#forget(old);
  }

  #useOf(key: string, isOfToken: boolean): Use {
    const known = this.#uses.get(key);
    if (known !== undefined) return known;
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

  /** What an address or token takes is forgotten with its last connection and request. */
  close(caller: Caller): void {
    caller.use.connections--;
    const waiting = this.#waiting.find((other) => other.caller === caller);
    if (waiting !== undefined) this.#giveUp(waiting);
    this.#forget(caller.use);
  }

  /** Counts a request; false where too many are being answered. */
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

  /** Counts an open stream, of a request that goes on as long; false where too many are open. */
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
   * Waits until a request may begin: strangers' are begun for a few milliseconds in each turn of the event loop, so
   * that the owner's come in between, however many there are. Those of tokens take turns.
   */
  turn({ use }: Pick<Caller, "use">): MaybePromise<void> {
    if (use.isOfToken) return this.#tokenTurns.wait(use.key);
    if (!this.#isForStrangers) return;
    if (this.#turn?.isOver === true) return this.#nextTurn();
    this.#beginTurn();
  }

  async #nextTurn(): Promise<void> {
    while (this.#turn?.isOver === true) await new Promise((resolve) => setImmediate(resolve));
    this.#beginTurn();
  }

  #beginTurn(): void {
    if (this.#turn !== undefined) return;
    this.#turn = new TimeSlice({ sliceMs: TURN_MS });
    setImmediate(() => {
      this.#turn = undefined;
    });
  }

  /**
   * Waits until a response may be made that costs so much at most; undefined when the caller leaves before, or has
   * waited for too long.
   */
  admit(caller: Caller, cost: CostLimits): MaybePromise<Admission | undefined> {
    const { heldBytes, heldBytesPerAddress, reservedBytes, slowMs } = this.limits;
    // Never more than requests leave free, however low the limits are set.
    const most = Math.min(heldBytes, heldBytesPerAddress) / 2;
    const bytes = Math.min(cost.responseBytes, reservedBytes, most);
    const asked = { caller, bytes, isExpensive: isExpensive(cost) };
    if (caller.hasLeft) return undefined;
    const admission = this.#waiting.length === 0 ? this.#tryAdmit(asked) : undefined;
    if (admission !== undefined) return admission;
    return new Promise((resolve) => {
      const timer = setTimeout(() => this.#giveUp(waiting), slowMs);
      const admit = (admitted: Admission | undefined) => {
        clearTimeout(timer);
        resolve(admitted);
      };
      const waiting = { ...asked, admit };
      this.#waiting.push(waiting);
      // Those before it may wait for what this one does not need.
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

  /** A response takes nothing more. */
  returned(use: Use): void {
    this.admitWaiting();
    this.#forget(use);
  }

  /** A call that takes long has ended. */
  freeSlot(use: Use): void {
    this.#expensive--;
    use.expensive--;
    this.admitWaiting();
  }

  /** In their order; who lacks only what is its own, or a slot, keeps nobody else waiting. */
  admitWaiting(): void {
    if (this.#waiting.length === 0) return;
    const left: Waiting[] = [];
    let isFull = false;
    for (const waiting of this.#waiting) {
      const admission = isFull ? undefined : this.#tryAdmit(waiting);
      if (admission !== undefined) waiting.admit(admission);
      else {
        left.push(waiting);
        isFull ||= waiting.bytes > this.#responseBytes.available;
      }
    }
    this.#waiting = left;
  }
}

/**
 * Whether a token has as much as is still free: one may so have half, two a third each, and some is always left for
 * the next.
 */
function takesTooMuch({ isOfToken }: Use, taken: number, free: number): boolean {
  return isOfToken && taken > 0 && taken >= free;
}

/** A class: there is one for every request. */
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
