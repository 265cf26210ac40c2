import { type MaybePromise, TimeSlice } from "@anulo/limits";

/** Milliseconds of one turn of the event loop in which requests begin as they come. */
const TURN_MS = 10;

/**
 * Has requests begin in turns: as they come while there is little to do, and else one of each caller after the other,
 * one in each turn of the event loop. So whoever sends one request waits for one of each other caller at most, however
 * many those have sent.
 */
export class FairTurns {
  /** Requests that wait, by caller; whose turn is next comes first. */
  readonly #waiting = new Map<string, (() => void)[]>();
  /** Of this turn of the event loop, from the first request in it on. */
  #turn: TimeSlice | undefined;

  /** Waits until a request of this caller may begin. */
  wait(caller: string): MaybePromise<void> {
    if (this.#turn === undefined) this.#begin();
    if (this.#waiting.size === 0 && !this.#turn!.isOver) return;
    return new Promise((resolve) => {
      const waiting = this.#waiting.get(caller);
      if (waiting === undefined) this.#waiting.set(caller, [resolve]);
      else waiting.push(resolve);
    });
  }

  #begin(): void {
    this.#turn = new TimeSlice({ sliceMs: TURN_MS });
    setImmediate(() => {
      this.#turn = undefined;
      const next = this.#take();
      if (next === undefined) return;
      // Others wait, or may: what comes now stands behind them.
      this.#begin();
      next();
    });
  }

  /** The next request; its caller's others wait until the others have had their turn. */
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
