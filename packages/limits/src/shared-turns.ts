/**
 * Milliseconds that works which share turns have in each. A node that syncs also reads what peers send, collects garbage,
 * and answers each caller once a turn: at 1,000 requests a second over 16 connections, the slowest hundredth waited 51 to
 * 58 ms, and 190 to 710 when each work had 3 ms.
 */
export const SHARED_SLICE_MS = 1.5;

/**
 * What long works that go on side by side share of the event loop: in each of its turns one of those that wait goes on,
 * and all together have the time of one slice. Thus a turn stays short however many they are.
 */
export class SharedTurns {
  /** Those that wait for a turn, the first of which goes on next. */
  readonly #waiting = new Set<() => void>();
  #usedMs = 0;
  #hasNext = false;

  /** Milliseconds of their slices in this turn of the event loop. */
  get usedMs(): number {
    return this.#usedMs;
  }

  /** Counts milliseconds of a slice of this turn. */
  count(milliseconds: number): void {
    this.#usedMs += milliseconds;
    this.#schedule();
  }

  /** Resolves in the first later turn in which none that has waited longer goes on. */
  next(): Promise<void> {
    return new Promise((resolve) => {
      this.#waiting.add(resolve);
      this.#schedule();
    });
  }

  #schedule(): void {
    if (this.#hasNext) return;
    this.#hasNext = true;
    setImmediate(() => this.#begin());
  }

  #begin(): void {
    this.#hasNext = false;
    this.#usedMs = 0;
    for (const resolve of this.#waiting) {
      this.#waiting.delete(resolve);
      resolve();
      break;
    }
    if (this.#waiting.size > 0) this.#schedule();
  }
}
