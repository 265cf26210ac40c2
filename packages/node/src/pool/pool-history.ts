import { firstNot } from "./sorted-list.ts";

/** The changes of the pool since some time. */
export interface PoolUpdate {
  /** Ids in hexadecimal of transactions that were added or became public since, and are still there. */
  readonly added: readonly string[];
  /** Some of them may be there again. */
  readonly removed: readonly Removal[];
}

/** A removed transaction; `isHidden`: it was not public. `id`: 32 bytes. */
export interface Removal {
  readonly id: Uint8Array;
  readonly isHidden: boolean;
}

/** When transactions were added to the pool and removed, for callers that request only the changes. */
export interface PoolHistory {
  recordAdded(key: string): void;
  recordRemoved(key: string, removal: Removal): void;
  /**
   * The changes since a time (Unix seconds), its second included; undefined where the history does not go back so far.
   * It does so once a transaction was added and one was removed, as in the original. Source: tx_pool.cpp
   * `get_pool_info`.
   */
  since(moment: bigint): PoolUpdate | undefined;
}

/** Number of removals remembered, and for how many seconds. Source: tx_pool.cpp `track_removed_tx`. */
const MAX_REMOVED = 20_000;
const REMOVED_SECONDS = 30 * 60;
/** Number of outdated additions that may be kept until they are cleaned up. */
const MAX_STALE = 1000;

interface Arrival {
  readonly key: string;
  readonly time: number;
}

/** Begins with the transactions (keys) that are there already; `now` returns Unix seconds. */
export function createPoolHistory(present: Iterable<string>, now: () => number): PoolHistory {
  const latest = new Map<string, Arrival>();
  let arrivals: Arrival[] = [];
  let departures: (Removal & { readonly time: number })[] = [];
  let addedFrom: number | undefined;
  let removedFrom: number | undefined;
  let last = 0;
  // Times never decrease, even if the clock does: both lists remain in order.
  const stamp = () => (last = Math.max(last, now()));

  const noteAdded = (key: string) => {
    const arrival = { key, time: stamp() };
    latest.set(key, arrival);
    arrivals.push(arrival);
    addedFrom ??= arrival.time;
    if (arrivals.length > 2 * latest.size + MAX_STALE)
      arrivals = arrivals.filter((one) => latest.get(one.key) === one);
  };
  const dropOld = (time: number) => {
    if (departures.length > MAX_REMOVED) {
      departures = departures.slice(MAX_REMOVED / 4 + 1);
      removedFrom = departures[0]!.time;
    }
    const earliest = time - REMOVED_SECONDS;
    if (departures[0]!.time >= earliest) return;
    departures = departures.slice(firstNot(departures, (one) => one.time < earliest));
    removedFrom = earliest;
  };
  for (const key of present) noteAdded(key);
  return {
    recordAdded: noteAdded,
    recordRemoved(key, removal) {
      const time = stamp();
      latest.delete(key);
      departures.push({ ...removal, time });
      removedFrom ??= time;
      dropOld(time);
    },
    since(moment) {
      const from = Number(BigInt.asIntN(64, moment));
      if (addedFrom === undefined || removedFrom === undefined) return undefined;
      if (from <= addedFrom || from <= removedFrom) return undefined;
      const isBefore = ({ time }: { readonly time: number }) => time < from;
      const came = arrivals.slice(firstNot(arrivals, isBefore));
      return {
        added: came.filter((one) => latest.get(one.key) === one).map(({ key }) => key),
        removed: departures.slice(firstNot(departures, isBefore)),
      };
    },
  };
}
