import { setImmediate } from "node:timers/promises";
import { type MaybePromise, whenReady } from "./maybe-promise.ts";
import { SHARED_SLICE_MS, type SharedTurns } from "./shared-turns.ts";

/**
 * Milliseconds of work after which other work on the event loop runs first: a caller who waits for each response gets
 * one a turn.
 */
export const SLICE_MS = 3;

export interface SliceOptions {
  /** Milliseconds of work in one slice; by default `SLICE_MS`, or `SHARED_SLICE_MS` with `turns`. */
  readonly sliceMs?: number;
  /** Called before each pause: the data that is read must not change meanwhile, so a snapshot is taken here. */
  readonly beforeYield?: () => void;
  /** Called after each pause, before the next slice. */
  readonly afterYield?: () => void;
  /** The works whose slices in one turn of the event loop are together no longer than one slice. */
  readonly turns?: SharedTurns | undefined;
  /** Waits between two slices; by default for the next of `turns`, or one turn of the event loop. */
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
  #isPaused = false;

  constructor(options: SliceOptions = {}) {
    this.#options = options;
    this.#sliceMs = options.sliceMs ?? (options.turns === undefined ? SLICE_MS : SHARED_SLICE_MS);
  }

  /** Whether it is time to yield. */
  get isOver(): boolean {
    const othersMs = this.#options.turns?.usedMs ?? 0;
    return othersMs + performance.now() - this.#startedAt >= this.#sliceMs;
  }

  /** Lets everything else that is ready run, then starts the next slice. Rejects where the work is aborted. */
  async yield(): Promise<void> {
    const { beforeYield, afterYield, turns, signal } = this.#options;
    const { pause = turns === undefined ? setImmediate : () => turns.next() } = this.#options;
    beforeYield?.();
    this.end();
    this.#isPaused = true;
    await pause();
    signal?.throwIfAborted();
    afterYield?.();
    this.#isPaused = false;
    this.#startedAt = performance.now();
  }

  /** Waits for other work, whose time is not counted in this slice. */
  async wait<T>(others: Promise<T>): Promise<T> {
    const from = performance.now();
    try {
      return await others;
    } finally {
      this.#startedAt += performance.now() - from;
    }
  }

  /** Reports the last slice, unless the work was aborted in a pause. */
  end(): void {
    if (this.#isPaused) return;
    const milliseconds = performance.now() - this.#startedAt;
    this.#options.turns?.count(milliseconds);
    this.#options.onWork?.(milliseconds);
  }
}

/** Runs `step` for each item, in slices: at once where one is enough. */
export function forEachSliced<T>(
  items: Iterable<T>,
  step: (item: T) => void,
  options?: SliceOptions,
): MaybePromise<void> {
  return runSliced(stepsOf(items, step), options);
}

function* stepsOf<T>(items: Iterable<T>, step: (item: T) => void): Generator<void, void> {
  for (const item of items) {
    step(item);
    yield;
  }
}

/** Maps each item, in slices: at once where one is enough. */
export function mapSliced<T, R>(
  items: Iterable<T>,
  map: (item: T) => R,
  options?: SliceOptions,
): MaybePromise<R[]> {
  const results: R[] = [];
  const done = forEachSliced(items, (item) => void results.push(map(item)), options);
  return whenReady(done, () => results);
}

/**
 * Runs a generator to its end, in slices: it yields wherever it may pause, and is ended if the work is aborted. The
 * first slice runs at once; if it is enough, the value is returned without a promise.
 */
export function runSliced<T>(steps: Generator<void, T>, options?: SliceOptions): MaybePromise<T> {
  const slice = new TimeSlice(options);
  let step: IteratorResult<void, T>;
  try {
    step = runSlice(steps, slice);
  } catch (error) {
    slice.end();
    throw error;
  }
  if (step.done !== true) return runRest(steps, slice);
  slice.end();
  return step.value;
}

/** Runs as many steps as fit into a slice; returns the last of them. */
function runSlice<T>(steps: Generator<void, T>, slice: TimeSlice): IteratorResult<void, T> {
  for (;;) {
    const step = steps.next();
    if (step.done === true || slice.isOver) return step;
  }
}

async function runRest<T>(steps: Generator<void, T>, slice: TimeSlice): Promise<T> {
  try {
    for (;;) {
      await slice.yield();
      const step = runSlice(steps, slice);
      if (step.done === true) return step.value;
    }
  } finally {
    slice.end();
    // Has no effect if the generator has ended by itself.
    steps.return(undefined as T);
  }
}
