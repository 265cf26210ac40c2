/** Milliseconds over which the event loop is looked at. */
const WINDOW_MS = 50;
/** Busy for more than this part of a window, work is charged more; for less than the second, less again. */
const BUSY = 0.9;
const IDLE = 0.75;
const STEP = 1.5;
const MAX_FACTOR = 4;

/** Time of an event loop so far, in milliseconds since an arbitrary start. */
export interface LoopTime {
  readonly idle: number;
  readonly active: number;
}

/**
 * How many times its measured time work of strangers counts: 1, and up to 4 while the event loop has no time left. Much
 * of what their work costs is measured nowhere: garbage is collected between slices, and sockets are written there.
 */
export class LoopLoad {
  readonly #read: () => LoopTime;
  #since: LoopTime;
  #factor = 1;

  /** Reads the event loop it is created on, unless it is passed what to read. */
  constructor(read: () => LoopTime = () => performance.eventLoopUtilization()) {
    this.#read = read;
    this.#since = read();
  }

  /** The factor now; looked at anew once a window is over. */
  get factor(): number {
    const time = this.#read();
    const active = time.active - this.#since.active;
    const all = active + time.idle - this.#since.idle;
    if (all < WINDOW_MS) return this.#factor;
    this.#since = time;
    const busy = active / all;
    if (busy > BUSY) this.#factor = Math.min(MAX_FACTOR, this.#factor * STEP);
    else if (busy < IDLE) this.#factor = Math.max(1, this.#factor / STEP);
    return this.#factor;
  }
}
