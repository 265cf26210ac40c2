/**
 * Finds the number of threads that is worth using: one more at a time, until another one does not increase the rate.
 */
export interface ThreadCount {
  readonly threads: number;
  /** Receives the rate (hashes per second) with the current number; returns true when the number has changed. */
  measured(rate: number): boolean;
}

/** Seconds for which a number of threads is tried. Source: miner.cpp `AUTODETECT_WINDOW`. */
export const TRIAL_SECONDS = 10;
/** Source: miner.cpp `AUTODETECT_GAIN_THRESHOLD`. */
const MIN_GAIN = 1.02;

/** A fixed number of threads; 0 means to find it, with no more than `most`. */
export function createThreadCount(requested: number, most: number): ThreadCount {
  let threads = Math.max(1, requested);
  let isSettled = requested > 0;
  let rateBefore = 0;
  return {
    get threads() {
      return threads;
    },
    measured(rate) {
      if (isSettled) return false;
      const isWorthIt = rate >= rateBefore * MIN_GAIN;
      isSettled = !isWorthIt || threads >= most;
      if (isSettled && isWorthIt) return false;
      threads += isWorthIt ? 1 : -1;
      rateBefore = rate;
      return true;
    },
  };
}
