import { type MaybePromise, type SharedTurns, type SliceOptions, whenOver } from "@anulo/limits";
import { OverBudget } from "./over-budget.ts";

/** What happens in the slices of a call. */
export interface RowMeterOptions {
  /** Called with the milliseconds of each slice of `during` but the first, which is part of what its caller does at once. */
  readonly onWork?: (milliseconds: number) => void;
  /** The calls whose slices share each turn of the event loop. */
  readonly turns?: SharedTurns | undefined;
  /** Waits between two slices; by default one turn of the event loop. */
  readonly pause?: () => Promise<unknown>;
}

/**
 * Counts the database rows that one call reads, in each slice in which it runs: whatever else is read between two
 * slices is not its own. Work that continues after a wait is counted where it is given to `during`.
 */
export class RowMeter {
  readonly #rowsRead: () => number;
  #most = Number.POSITIVE_INFINITY;
  #used = 0;
  /** Rows read before this slice; undefined between slices. */
  #before: number | undefined;

  readonly #options: RowMeterOptions;

  /** `rowsRead` returns how many rows have been read by all. */
  constructor(rowsRead: () => number, options: RowMeterOptions = {}) {
    this.#rowsRead = rowsRead;
    this.#options = options;
  }

  /** Rows that the call has read in the slices that have ended. */
  get used(): number {
    return this.#used;
  }

  /** Starts the count of a call, which may read `most` rows. */
  begin(most: number): void {
    this.#most = most;
    this.#used = 0;
    this.#before = this.#rowsRead();
  }

  /** Ends a slice. Throws OverBudget if the call has read too many rows. */
  pause(): void {
    if (this.#before === undefined) return;
    this.#used += this.#rowsRead() - this.#before;
    this.#before = undefined;
    if (this.#used > this.#most) throw new OverBudget("rows", "too many rows are read");
  }

  /** Starts a slice, unless one has started. */
  resume(): void {
    this.#before ??= this.#rowsRead();
  }

  /**
   * Runs work of the call that takes slices by the options it is passed. Throws OverBudget, or rejects with it, once
   * the call has read too many rows.
   */
  during<T>(work: (options: SliceOptions) => MaybePromise<T>, options: SliceOptions): MaybePromise<T> {
    const isInSlice = this.#before !== undefined;
    this.resume();
    let isFirst = true;
    const { onWork, pause, turns } = this.#options;
    const counted = {
      ...options,
      turns,
      ...(pause !== undefined && { pause }),
      onWork: (milliseconds: number) => {
        if (!isFirst) onWork?.(milliseconds);
        isFirst = false;
      },
      beforeYield: () => {
        options.beforeYield?.();
        this.pause();
      },
      afterYield: () => this.resume(),
    };
    // Where it has ended in the slice in which it began, that slice goes on.
    let isLater = false;
    const done = whenOver(
      () => work(counted),
      () => {
        if (isLater || !isInSlice) this.pause();
      },
    );
    isLater = true;
    return done;
  }
}
