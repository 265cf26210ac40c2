/** How far a scan has come, and when it will end. */

/** A scan under way. */
export type ScanProgress = {
  /** Height of the next block to scan. */
  readonly height: number;
  /** Number of blocks the node has. */
  readonly targetHeight: number;
  readonly blocksPerSecond: number;
  readonly secondsLeft: number;
};

/** Minimum duration (milliseconds) of the measurement, since the first blocks alone would give a wrong estimate. */
const SHORTEST_MS = 200;

/** Measures one scan after the other. */
export class ProgressMeter {
  readonly #now: () => number;
  #from: { readonly height: number; readonly at: number } | undefined;
  #last: { readonly height: number; readonly targetHeight: number; readonly at: number } | undefined;

  /** `now` returns milliseconds of a monotonic clock. */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  begin(): void {
    this.#from = undefined;
    this.#last = undefined;
  }

  /** Records that blocks from `fromHeight` up to `height` have been scanned; the node has `targetHeight` blocks. */
  advance(fromHeight: number, height: number, targetHeight: number): void {
    const at = this.#now();
    this.#from ??= { height: fromHeight, at };
    this.#last = { height, targetHeight: Math.max(height, targetHeight), at };
  }

  end(): void {
    this.begin();
  }

  /** The progress; undefined while no scan is under way, or before it can be estimated. */
  get progress(): ScanProgress | undefined {
    if (this.#from === undefined || this.#last === undefined) return undefined;
    const took = this.#last.at - this.#from.at;
    if (took < SHORTEST_MS) return undefined;
    const { height, targetHeight } = this.#last;
    const perSecond = (1000 * (height - this.#from.height)) / took;
    if (perSecond <= 0) return undefined;
    const secondsLeft = Math.ceil((targetHeight - height) / perSecond);
    return { height, targetHeight, blocksPerSecond: Math.round(perSecond), secondsLeft };
  }
}
