import { setImmediate } from "node:timers/promises";

/** Milliseconds a long answer may keep the event loop before it lets others go first. */
const TURN_MS = 20;

/** Maps items one by one, yielding to the event loop whenever a turn is over. */
export async function mapInTurns<T, R>(items: Iterable<T>, map: (item: T) => R): Promise<R[]> {
  const results: R[] = [];
  let turnStart = performance.now();
  for (const item of items) {
    results.push(map(item));
    if (performance.now() - turnStart < TURN_MS) continue;
    await setImmediate();
    turnStart = performance.now();
  }
  return results;
}

/** The whole numbers from `from` (inclusive) to `to` (exclusive). */
export function* range(from: number, to: number): Iterable<number> {
  for (let i = from; i < to; i++) yield i;
}
