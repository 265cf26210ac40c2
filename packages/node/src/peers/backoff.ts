import type { Clock } from "@anulo/p2p";

/** Puts off what went wrong, twice as long each time it does so again. */
export interface Backoff {
  readonly isWaiting: boolean;
  failed(): void;
  succeeded(): void;
}

const FIRST_MS = 1000;
const LONGEST_MS = 60_000;

/** Starts without waiting. */
export function createBackoff(clock: Clock): Backoff {
  let delay = FIRST_MS;
  let until = 0;
  return {
    get isWaiting() {
      return clock.milliseconds() < until;
    },
    failed() {
      until = clock.milliseconds() + delay;
      delay = Math.min(2 * delay, LONGEST_MS);
    },
    succeeded() {
      delay = FIRST_MS;
      until = 0;
    },
  };
}
