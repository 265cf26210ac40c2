import type { PowWork } from "./work.ts";
import { seedOf } from "./work.ts";

/** A hash that a caller waits for. */
export interface HashJob {
  readonly id: number;
  readonly work: PowWork;
}

/** Jobs in the order of arrival, except that those whose seed is ready may go first for a while. */
export interface HashQueue {
  add(job: HashJob): void;
  /** Removes and returns the next job among those whose seed is ready, or that need none. */
  take(isAtHand: (seed: string) => boolean): HashJob | undefined;
  /** The seed (hexadecimal) that the oldest waiting job needs, and whether it has waited long enough. */
  missingSeed(
    isAtHand: (seed: string) => boolean,
  ): { readonly seedId: Uint8Array; readonly isDue: boolean } | undefined;
  /**
   * A seed is ready: the waiting time of other seeds begins again, so that this one is used before its slot is needed.
   */
  markReady(): void;
  /** Removes and returns all jobs that need a seed. */
  takeAll(seed: string): HashJob[];
}

/** Milliseconds after which a job's seed is made even if other jobs could be hashed meanwhile. */
const SEED_WAIT_MS = 2000;

interface Entry {
  readonly job: HashJob;
  readonly seed: string | undefined;
  readonly since: number;
}

/** Making a seed's cache takes as long as ten hashes, so the seed is not changed for every job. */
export function createHashQueue(now: () => number): HashQueue {
  const entries: Entry[] = [];
  let readySince = Number.NEGATIVE_INFINITY;
  return {
    add: (job) => void entries.push({ job, seed: seedOf(job.work), since: now() }),
    take(isAtHand) {
      const at = entries.findIndex(({ seed }) => seed === undefined || isAtHand(seed));
      return at === -1 ? undefined : entries.splice(at, 1)[0]!.job;
    },
    missingSeed(isAtHand) {
      const entry = entries.find(({ seed }) => seed !== undefined && !isAtHand(seed));
      if (entry === undefined) return undefined;
      return {
        seedId: entry.job.work.seedId!,
        isDue: now() - Math.max(entry.since, readySince) > SEED_WAIT_MS,
      };
    },
    markReady() {
      readySince = now();
    },
    takeAll(lost) {
      const jobs = entries.filter(({ seed }) => seed === lost).map(({ job }) => job);
      entries.splice(0, entries.length, ...entries.filter(({ seed }) => seed !== lost));
      return jobs;
    },
  };
}
