import { setImmediate } from "node:timers/promises";

/** Milliseconds of work after which other work on the event loop goes first: short enough for RPC calls to not notice. */
export const SLICE_MS = 10;

export interface SliceOptions {
  /** Milliseconds of work in one slice; by default `SLICE_MS`. */
  readonly sliceMs?: number;
  /** Called before each pause: what is read must not change meanwhile, so a snapshot is taken here. */
  readonly beforeYield?: () => void;
  /** Waits between two slices; by default one turn of the event loop. */
  readonly pause?: () => Promise<unknown>;
  /** Called with the milliseconds of each slice, the last one included. */
  readonly onWork?: (milliseconds: number) => void;
  /** Ends the work at the next pause, which then rejects with the signal's reason. */
  readonly signal?: AbortSignal;
}

/** Divides long work on the event loop into slices, so that nothing else waits longer than one of them. */
export class TimeSlice {
  readonly #options: SliceOptions;
  readonly #sliceMs: number;
  #startedAt = performance.now();

  constructor(options: SliceOptions = {}) {
    this.#options = options;
    this.#sliceMs = options.sliceMs ?? SLICE_MS;
  }

  /** Whether it is time to yield. */
  get isOver(): boolean {
    return performance.now() - this.#startedAt >= this.#sliceMs;
  }

  /** Lets everything else that is ready run, then starts the next slice. Rejects where the work is aborted. */
  async yield(): Promise<void> {
    const { beforeYield, pause = setImmediate, signal } = this.#options;
    beforeYield?.();
    this.end();
    await pause();
    signal?.throwIfAborted();
    this.#startedAt = performance.now();
  }

  /** Waits for what others do: the time is not that of this slice. */
  async wait<T>(others: Promise<T>): Promise<T> {
    const from = performance.now();
    try {
      return await others;
    } finally {
      this.#startedAt += performance.now() - from;
    }
  }

  /** Reports the last slice. */
  end(): void {
    this.#options.onWork?.(performance.now() - this.#startedAt);
  }
}

/** Runs `step` for each item, in slices. */
export async function forEachSliced<T>(
  items: Iterable<T>,
  step: (item: T) => void,
  options?: SliceOptions,
): Promise<void> {
  const slice = new TimeSlice(options);
  try {
    for (const item of items) {
      if (slice.isOver) await slice.yield();
      step(item);
    }
  } finally {
    slice.end();
  }
}

/** Maps each item, in slices. */
export async function mapSliced<T, R>(
  items: Iterable<T>,
  map: (item: T) => R,
  options?: SliceOptions,
): Promise<R[]> {
  const results: R[] = [];
  await forEachSliced(items, (item) => void results.push(map(item)), options);
  return results;
}

/** Runs a generator to its end, in slices: it yields wherever it may pause, and is ended where the work is aborted. */
export async function runSliced<T>(steps: Generator<void, T>, options?: SliceOptions): Promise<T> {
  const slice = new TimeSlice(options);
  try {
    for (;;) {
      const step = steps.next();
      if (step.done === true) return step.value;
      if (slice.isOver) await slice.yield();
    }
  } finally {
    slice.end();
    // Does nothing where the generator has ended by itself.
    steps.return(undefined as T);
  }
}
