/** The time that the network uses; tests replace it. */
export interface Clock {
  /** Unix seconds. */
  seconds(): number;
  /** Milliseconds since an arbitrary start; never decreases. */
  milliseconds(): number;
  /**
   * Calls `run` once after some milliseconds, unless the returned function is called first. Does not keep the process
   * alive.
   */
  after(milliseconds: number, run: () => void): () => void;
}

/** The clock of the machine. */
export const systemClock: Clock = {
  seconds: () => Math.floor(Date.now() / 1000),
  milliseconds: () => performance.now(),
  after(milliseconds, run) {
    const timer = setTimeout(run, milliseconds).unref();
    return () => clearTimeout(timer);
  },
};
