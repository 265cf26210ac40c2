import { SharedTurns, type SliceOptions, WorkBudget } from "@anulo/limits";
import type { Clock } from "../clock.ts";
import { sharedLimits } from "../shared-limits.ts";

/** The connection was closed while work for it waited; the work is abandoned. */
export class ConnectionClosed extends Error {
  override name = "ConnectionClosed";

  constructor() {
    super("the connection is closed");
  }
}

interface WaitingTurn {
  readonly peer: WorkBudget;
  readonly resolve: () => void;
  readonly reject: (error: ConnectionClosed) => void;
}

/** The processor time of all peers of a network: each slice of work waits for its turn. */
export class SharedWork {
  /** The works beside which that for peers goes on. */
  readonly turns: SharedTurns;
  readonly #clock: Clock;
  readonly #budget: WorkBudget;
  readonly #waiting = new Set<WaitingTurn>();
  #cancel: (() => void) | undefined;

  constructor(clock: Clock, turns = new SharedTurns()) {
    this.turns = turns;
    this.#clock = clock;
    this.#budget = this.#newBudget(sharedLimits.work.allPeers);
  }

  /** Milliseconds by the clock that measures processor time. */
  now(): number {
    return this.#clock.milliseconds();
  }

  newPeer(): WorkBudget {
    return this.#newBudget(sharedLimits.work.onePeer);
  }

  /** Returns undefined if the work may go on at once: nothing waits and there is time left. */
  turn(peer: WorkBudget): Promise<void> | undefined {
    return this.#waiting.size === 0 && this.#budget.waitMs === 0 ? undefined : this.nextTurn(peer);
  }

  /**
   * Resolves when it is this peer's turn for a slice; the event loop turns at least once before. Rejects with
   * ConnectionClosed when the peer is disconnected.
   */
  nextTurn(peer: WorkBudget): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#waiting.add({ peer, resolve, reject });
      this.#schedule();
    });
  }

  /** Rejects all that wait for a turn of this peer. */
  leave(peer: WorkBudget): void {
    for (const waiting of this.#waiting) {
      if (waiting.peer !== peer) continue;
      this.#waiting.delete(waiting);
      waiting.reject(new ConnectionClosed());
    }
  }

  charge(peer: WorkBudget, milliseconds: number): void {
    this.#budget.charge(milliseconds);
    peer.charge(milliseconds);
  }

  /** Resolves all that wait; their connections are closed, so that they end by themselves. */
  stop(): void {
    this.#cancel?.();
    for (const { resolve } of this.#waiting) resolve();
    this.#waiting.clear();
  }

  #newBudget(options: { readonly share: number; readonly burstMs: number }): WorkBudget {
    return new WorkBudget({ ...options, now: () => this.#clock.milliseconds() });
  }

  #schedule(): void {
    if (this.#cancel !== undefined || this.#waiting.size === 0) return;
    this.#cancel = this.#wait(() => {
      this.#cancel = undefined;
      if (this.#budget.waitMs === 0) this.#serveOne();
      this.#schedule();
    });
  }

  /** Serves a peer that has not used up its budget, else the one that has waited longest. */
  #serveOne(): void {
    let next: WaitingTurn | undefined;
    for (const waiting of this.#waiting) {
      next ??= waiting;
      if (waiting.peer.waitMs > 0) continue;
      next = waiting;
      break;
    }
    if (next === undefined) return;
    this.#waiting.delete(next);
    next.resolve();
  }

  #wait(run: () => void): () => void {
    const { waitMs } = this.#budget;
    if (waitMs > 0) return this.#clock.after(waitMs, run);
    void this.turns.next().then(run);
    // A turn that comes when nothing waits any more does no harm.
    return () => {};
  }
}

/** The processor time of one connection. */
export class PeerWork {
  readonly #shared: SharedWork;
  readonly #budget: WorkBudget;
  #isClosed = false;
  /** When the message being handled began to measure its own time; undefined before. */
  #slicedAt: number | undefined;

  constructor(shared: SharedWork) {
    this.#shared = shared;
    this.#budget = shared.newPeer();
  }

  turn(): Promise<void> | undefined {
    return this.#shared.turn(this.#budget);
  }

  /** All that wait for a turn, now or later, reject with ConnectionClosed. */
  close(): void {
    this.#isClosed = true;
    this.#shared.leave(this.#budget);
  }

  /** Options of slices that wait for the peer's turns and are charged to it; on a closed connection they reject. */
  get slicing(): SliceOptions {
    this.#slicedAt ??= this.#shared.now();
    return {
      turns: this.#shared.turns,
      pause: () =>
        this.#isClosed ? Promise.reject(new ConnectionClosed()) : this.#shared.nextTurn(this.#budget),
      onWork: (milliseconds) => this.#shared.charge(this.#budget, milliseconds),
    };
  }

  /** Charges the time until `run` returns or begins to run in slices, which are charged by themselves. */
  measure<T>(run: () => T): T {
    this.#slicedAt = undefined;
    const startedAt = this.#shared.now();
    const result = run();
    this.#shared.charge(this.#budget, (this.#slicedAt ?? this.#shared.now()) - startedAt);
    return result;
  }
}
