import type { Clock } from "@anulo/p2p";

/** Delays retries: the delay doubles with each failure. */
export interface Backoff {
  readonly isWaiting: boolean;
  failed(): void;
  succeeded(): void;
}

const FIRST_DELAY_MS = 1000;
const MAX_DELAY_MS = 60_000;

/** Creates it without a delay. */
export function createBackoff(clock: Clock): Backoff {
  let delay = FIRST_DELAY_MS;
  let until = 0;
  return {
    get isWaiting() {
      return clock.milliseconds() < until;
    },
    failed() {
      until = clock.milliseconds() + delay;
      delay = Math.min(2 * delay, MAX_DELAY_MS);
    },
    succeeded() {
      delay = FIRST_DELAY_MS;
      until = 0;
    },
  };
}
