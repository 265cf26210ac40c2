/** What ends a call early. */
export interface CallBounds {
  readonly timeoutMs: number;
  readonly signals: readonly (AbortSignal | undefined)[];
}

/**
 * Calls `end` after `timeoutMs` milliseconds, or when one of the signals is aborted, unless it was stopped before.
 * Written by hand, since a combined signal costs as much as the rest of a call.
 */
export function watchBounds({ timeoutMs, signals }: CallBounds, end: () => void) {
  let isLate = false;
  const timer = setTimeout(() => {
    isLate = true;
    end();
  }, timeoutMs);
  timer.unref();
  for (const signal of signals) {
    if (signal?.aborted) end();
    signal?.addEventListener("abort", end);
  }
  return {
    /** Whether the time was over. */
    isLate: () => isLate,
    stop() {
      clearTimeout(timer);
      for (const signal of signals) signal?.removeEventListener("abort", end);
    },
  };
}

/**
 * Lets so many calls use a connection at once; the others wait in the order of their beginning. Node's own pool counts a
 * connection only once it is open, so that calls which begin together would open one each.
 */
export class ConnectionSlots {
  #free: number;
  readonly #waiting = new Set<() => void>();

  constructor(count: number) {
    this.#free = count;
  }

  /** Resolves with true once the caller has a slot, which it has to release; with false where its bounds come first. */
  async take(bounds: CallBounds): Promise<boolean> {
    if (this.#free === 0) return this.#wait(bounds);
    this.#free--;
    return true;
  }

  /** The slot goes to whoever has waited longest. */
  release(): void {
    const [next] = this.#waiting;
    if (next === undefined) this.#free++;
    else next();
  }

  #wait(bounds: CallBounds): Promise<boolean> {
    return new Promise((resolve) => {
      const finish = (hasSlot: boolean) => {
        this.#waiting.delete(begin);
        watch?.stop();
        resolve(hasSlot);
      };
      const begin = () => finish(true);
      let watch: ReturnType<typeof watchBounds> | undefined;
      this.#waiting.add(begin);
      watch = watchBounds(bounds, () => finish(false));
    });
  }
}
