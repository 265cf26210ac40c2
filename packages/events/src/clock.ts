import { setTimeout } from "node:timers/promises";

/** Time and waiting as a parameter, so that tests need no real time. */
export interface Clock {
  /** Milliseconds since 1970. */
  now(): number;
  /** Resolves after this many milliseconds, or as soon as the signal aborts. */
  delay(ms: number, signal?: AbortSignal): Promise<void>;
}

/** The system's clock. */
export const systemClock: Clock = {
  now: Date.now,
  async delay(ms, signal) {
    await setTimeout(ms, undefined, signal && { signal }).catch(() => {});
  },
};
