import { setImmediate } from "node:timers/promises";
import type { ChainReader, ChainSnapshot, ChainStore } from "@anulo/storage";

/** Milliseconds a long answer may keep the event loop before it lets others go first. */
const TURN_MS = 20;

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
export async function atThisMoment<T>(
  { read, snapshot }: Pick<ChainStore, "read" | "snapshot">,
  answer: (moment: Moment) => Promise<T>,
): Promise<T> {
  let held: ChainSnapshot | undefined;
  try {
    return await answer({
      get read() {
        return held ?? read;
      },
      hold() {
        held ??= snapshot();
      },
    });
  } finally {
    held?.close();
  }
}

/** Maps items one by one, yielding to the event loop whenever a turn is over; `moment` is held before. */
export async function mapInTurns<T, R>(
  items: Iterable<T>,
  map: (item: T) => R,
  moment?: Moment,
): Promise<R[]> {
  const results: R[] = [];
  let turnStart = performance.now();
  for (const item of items) {
    results.push(map(item));
    if (performance.now() - turnStart < TURN_MS) continue;
    moment?.hold();
    await setImmediate();
    turnStart = performance.now();
  }
  return results;
}

/** The whole numbers from `from` (inclusive) to `to` (exclusive). */
export function* range(from: number, to: number): Iterable<number> {
  for (let i = from; i < to; i++) yield i;
}
