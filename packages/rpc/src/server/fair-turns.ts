import { type MaybePromise, TimeSlice, type WorkBudget } from "@anulo/limits";

/** Milliseconds per turn of the event loop in which requests start as they come. */
const TURN_MS = 5;
/** Milliseconds after which a pause is looked at again. */
export const MAX_PAUSE_MS = 50;

/**
 * Starts requests in turns: as they come while there is little to do, otherwise one of each caller after the other, one
 * per turn of the event loop. Thus a caller with one request waits for at most one of each other caller, however many
 * those have sent. All wait while they have used up the processor time that they may have together.
 */
export class FairTurns {
  readonly #work: WorkBudget | undefined;
  /** Waiting requests by caller; the caller whose turn is next comes first. */
  readonly #waiting = new Map<string, (() => void)[]>();
  /** The slice of this turn of the event loop, starting with its first request. */
  #turn: TimeSlice | undefined;

  /** Without `work`, the time of all requests together is not limited. */
  constructor(work?: WorkBudget) {
    this.#work = work;
  }

  /** Waits until a request of this caller may begin. */
  wait(caller: string): MaybePromise<void> {
    if (this.#turn === undefined) this.#begin();
    if (this.#waiting.size === 0 && !this.#turn!.isOver && this.#pauseMs === 0) return;
    return new Promise((resolve) => {
      const waiting = this.#waiting.get(caller);
      if (waiting === undefined) this.#waiting.set(caller, [resolve]);
      else waiting.push(resolve);
    });
  }

  get #pauseMs(): number {
    return this.#work?.waitMs ?? 0;
  }

  #begin(): void {
    this.#turn = new TimeSlice({ sliceMs: TURN_MS });
    setImmediate(() => this.#end());
  }

  #end(): void {
    const pauseMs = this.#waiting.size > 0 ? this.#pauseMs : 0;
    if (pauseMs > 0) return void setTimeout(() => this.#end(), Math.min(pauseMs, MAX_PAUSE_MS));
    this.#turn = undefined;
    const next = this.#take();
    if (next === undefined) return;
    // Other requests wait, or may: a request that comes now is queued behind them.
    this.#begin();
    next();
  }

  /** The next request; further ones of its caller wait until the other callers have had their turn. */
  #take(): (() => void) | undefined {
    for (const [caller, waiting] of this.#waiting) {
      this.#waiting.delete(caller);
      const next = waiting.shift();
      if (waiting.length > 0) this.#waiting.set(caller, waiting);
      return next;
    }
    return undefined;
  }
}
