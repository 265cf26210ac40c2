import { type FoundNonce, NONCES, type PowSearch } from "./work.ts";

/** Consecutive nonces that one thread tries. */
export interface NonceRun {
  /** How many nonces after the search's first one. */
  readonly offset: number;
  readonly count: number;
}

/** The result of a run. */
export interface RunResult {
  readonly hashes: number;
  readonly nonce: FoundNonce | undefined;
  /** Milliseconds it took. */
  readonly ms: number;
}

/** Distributes the nonces of one search; finds the same nonce with any number of threads. */
export interface SearchRun {
  /** The next nonces to try; undefined when enough are being tried, or none are left. */
  take(): NonceRun | undefined;
  /** Records the result of a run; returns true once the search is over. */
  finish(run: NonceRun, result: RunResult): boolean;
  /** Milliseconds until a thread has rested; undefined when none rests. */
  restLeft(): number | undefined;
  /** The first nonce in order that was found. */
  bestNonce(): FoundNonce | undefined;
}

/** Milliseconds for which a run occupies a thread: a block to verify, or a new template, may have to wait so long. */
const RUN_MS = 100;
const MAX_RUN = 4096;

export interface SearchRunOptions {
  /** Number of runs that may be tried at once. */
  readonly threads: number;
  /** Returns milliseconds since an arbitrary start. */
  readonly now: () => number;
}

/** Starts with runs of one nonce and lengthens them if hashing turns out to be fast. */
export function createSearchRun(search: PowSearch, { threads, now }: SearchRunOptions): SearchRun {
  const { firstNonce, restMs = 0 } = search;
  const open = new Set<NonceRun>();
  /** When each resting thread may continue. */
  let rests: number[] = [];
  let next = 0;
  let length = 1;
  let best: { readonly offset: number; readonly nonce: FoundNonce } | undefined;
  const note = (nonce: FoundNonce) => {
    const offset = (nonce.nonce - firstNonce + NONCES) % NONCES;
    if (best === undefined || offset < best.offset) best = { offset, nonce };
  };
  const isOver = () => {
    if (best === undefined) return open.size === 0 && next >= NONCES;
    const { offset: bestOffset } = best;
    return ![...open].some(({ offset }) => offset < bestOffset);
  };
  return {
    take() {
      rests = rests.filter((end) => end > now());
      if (best !== undefined || open.size + rests.length >= threads || next >= NONCES) return undefined;
      const run = { offset: next, count: Math.min(length, NONCES - next) };
      next += run.count;
      open.add(run);
      return run;
    },
    finish(run, { hashes, nonce, ms }) {
      open.delete(run);
      if (restMs > 0) rests.push(now() + restMs);
      else length = Math.max(1, Math.min(MAX_RUN, Math.round((hashes * RUN_MS) / Math.max(ms, 0.01))));
      if (nonce !== undefined) note(nonce);
      return isOver();
    },
    restLeft: () => (rests.length === 0 ? undefined : Math.max(0, Math.min(...rests) - now())),
    bestNonce: () => best?.nonce,
  };
}
