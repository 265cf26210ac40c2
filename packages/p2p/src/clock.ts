/** Time, as the network sees it. */
export interface Clock {
  /** Unix seconds. */
  seconds(): number;
  /** Milliseconds since some moment, never going back. */
  milliseconds(): number;
  /** Calls once after some milliseconds, unless the returned function is called before. Does not keep the process alive. */
  after(milliseconds: number, run: () => void): () => void;
}

/** The machine's clock. */
export const systemClock: Clock = {
  seconds: () => Math.floor(Date.now() / 1000),
  milliseconds: () => performance.now(),
  after(milliseconds, run) {
    const timer = setTimeout(run, milliseconds).unref();
    return () => clearTimeout(timer);
  },
};
