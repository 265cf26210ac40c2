import { toHex } from "@anulo/protocol";
import type { PowWork } from "./work.ts";

/** A hash somebody waits for. */
export interface HashJob {
  readonly id: number;
  readonly work: PowWork;
}

/** Work in the order it came, save that work whose seed is at hand may go first for a while. */
export interface HashQueue {
  readonly size: number;
  add(job: HashJob): void;
  /** Takes the job to do next where the seeds in `atHand` (hexadecimal) cost nothing. */
  take(atHand: ReadonlySet<string>): HashJob | undefined;
}

/** Milliseconds after which a job goes first even if its seed has to be made. */
const MAX_PASSED_OVER_MS = 2000;

interface Entry {
  readonly job: HashJob;
  readonly seed: string | undefined;
  readonly since: number;
}

/** Making a seed's cache takes as long as ten hashes, so seeds are not changed with every job. */
export function createHashQueue(now: () => number): HashQueue {
  const entries: Entry[] = [];
  return {
    get size() {
      return entries.length;
    },
    add(job) {
      const { seedId } = job.work;
      entries.push({ job, seed: seedId === undefined ? undefined : toHex(seedId), since: now() });
    },
    take(atHand) {
      const oldest = entries[0];
      if (oldest === undefined) return undefined;
      const isCheap = ({ seed }: Entry) => seed === undefined || atHand.has(seed);
      const isOverdue = now() - oldest.since > MAX_PASSED_OVER_MS;
      const at = isOverdue ? 0 : Math.max(0, entries.findIndex(isCheap));
      return entries.splice(at, 1)[0]!.job;
    },
  };
}
