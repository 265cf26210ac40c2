import type { Clock } from "@anulo/p2p";

/** Puts off what went wrong, twice as long each time it does so again. */
export interface Backoff {
  readonly isWaiting: boolean;
  failed(): void;
  succeeded(): void;
}

const FIRST_DELAY_MS = 1000;
const MAX_DELAY_MS = 60_000;

/** Starts without waiting. */
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
