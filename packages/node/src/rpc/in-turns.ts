import { type MaybePromise, mapSliced } from "@anulo/limits";
import { Drawn, type RowMeter } from "@anulo/rpc";
import type { ChainReader, ChainSnapshot, ChainStore } from "@anulo/storage";

/**
 * One moment of the chain for a whole answer. Nothing is written during a turn of the event loop, so a snapshot is
 * only taken of it before others are let go first.
 */
export interface Moment {
  /** Reads the chain of this moment; not to be kept over turns. */
  readonly read: ChainReader;
  /** To be called before a turn ends. */
  hold(): void;
}

/** Gives `answer` the chain as it is now, for as long as it takes. */
export function atThisMoment<T>(
  { read, snapshot }: Pick<ChainStore, "read" | "snapshot">,
  answer: (moment: Moment) => MaybePromise<T>,
): MaybePromise<T> {
  let fixedRead: ChainSnapshot | undefined;
  const response = answer({
    get read() {
      return fixedRead ?? read;
    },
    hold() {
      fixedRead ??= snapshot();
    },
  });
  // Nothing is held of what was answered in this turn.
  return response instanceof Promise ? response.finally(() => fixedRead?.close()) : response;
}

/** A list of `length` elements that are read of the chain as it is now, each when it is written. */
export function drawnAtThisMoment<T>(
  { read, snapshot }: Pick<ChainStore, "read" | "snapshot">,
  length: number,
  draw: (read: ChainReader, place: number) => T,
): Drawn<T> {
  let fixedRead: ChainSnapshot | undefined;
  return new Drawn(length, (place) => draw(fixedRead ?? read, place), {
    hold() {
      fixedRead ??= snapshot();
    },
    release: () => fixedRead?.close(),
  });
}

/** For whom items are mapped. */
export interface TurnOptions {
  /** Held before a turn ends. */
  readonly moment?: Moment;
  /** Ends the work when its caller leaves. */
  readonly signal: AbortSignal;
  /** Counts the rows that are read for the caller. */
  readonly rows: RowMeter;
}

/** Maps items one by one, yielding to the event loop whenever a turn is over; at once where one is enough. Rejects when the caller leaves. */
export function mapInTurns<T, R>(
  items: Iterable<T>,
  map: (item: T) => R,
  { moment, signal, rows }: TurnOptions,
): MaybePromise<R[]> {
  const beforeYield = () => moment?.hold();
  return rows.during((options) => mapSliced(items, map, options), { beforeYield, signal });
}

/** The whole numbers from `from` (inclusive) to `to` (exclusive). */
export function* range(from: number, to: number): Iterable<number> {
  for (let i = from; i < to; i++) yield i;
}
