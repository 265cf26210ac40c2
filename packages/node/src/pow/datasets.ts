import type { DatasetStatus, SeedSource } from "./messages.ts";
import type { HeldSource } from "./seeds.ts";

/** The dataset that long searches use: at most one, made when it is needed and released when it is not. */
export interface Datasets {
  /** The dataset of this cache's seed; undefined while it is being made, which this call begins. */
  use(cache: HeldSource): HeldSource | undefined;
}

export interface MakeOptions {
  readonly signal: AbortSignal;
  readonly onProgress: (items: number, all: number) => void;
}

/** Makes and frees datasets. */
export interface DatasetFactory {
  /** Rejects when it is aborted, or there is no memory. */
  make(cache: SeedSource, options: MakeOptions): Promise<SeedSource>;
  /** Frees a dataset that is no longer in use. */
  free(dataset: SeedSource): Promise<void>;
}

export interface DatasetsOptions {
  readonly factory: DatasetFactory;
  readonly report: (news: DatasetStatus) => void;
  /** Receives the name of a dataset that no thread may use any more. */
  readonly onReleased: (name: string) => void;
  /** Returns milliseconds since an arbitrary start. */
  readonly now: () => number;
}

/** Longer than the pause between two templates of a miner. */
const UNUSED_MS = 60_000;
const POLL_MS = 5000;

interface Entry {
  readonly seed: string;
  readonly abort: AbortController;
  source: SeedSource | undefined;
  users: number;
  wantedAt: number;
  isReleased: boolean;
}

/** Creates it without a dataset. */
export function createDatasets({ factory, report, onReleased, now }: DatasetsOptions): Datasets {
  let current: Entry | undefined;
  const freeIfUnused = ({ source, users, isReleased }: Entry) => {
    if (source !== undefined && users === 0 && isReleased) void factory.free(source).catch(() => {});
  };
  const release = (entry: Entry) => {
    if (entry === current) current = undefined;
    entry.isReleased = true;
    entry.abort.abort();
    if (entry.source === undefined) return;
    onReleased(nameOf(entry));
    freeIfUnused(entry);
    report({ type: "dataset", state: "let go" });
  };
  const make = async (entry: Entry, cache: HeldSource) => {
    cache.begin();
    try {
      report({ type: "dataset", state: "begun" });
      const options = { signal: entry.abort.signal, onProgress: percentages(report) };
      entry.source = await factory.make(cache.source, options);
      if (entry.isReleased) freeIfUnused(entry);
      else report({ type: "dataset", state: "ready" });
    } catch (error) {
      // A dataset that failed is not tried again as long as it is needed.
      if (!entry.isReleased) report({ type: "dataset", state: "failed", reason: String(error) });
    } finally {
      cache.end();
    }
  };
  setInterval(() => {
    if (current !== undefined && now() - current.wantedAt > UNUSED_MS) release(current);
  }, POLL_MS).unref();
  return {
    use(cache) {
      if (current !== undefined && current.seed !== cache.name) release(current);
      if (current === undefined) {
        const abort = new AbortController();
        current = { seed: cache.name, abort, source: undefined, users: 0, wantedAt: 0, isReleased: false };
        void make(current, cache);
      }
      current.wantedAt = now();
      return useOf(current, freeIfUnused);
    },
  };
}

const nameOf = ({ seed }: Entry) => `${seed} dataset`;

function useOf(entry: Entry, freeIfUnused: (entry: Entry) => void): HeldSource | undefined {
  if (entry.source === undefined) return undefined;
  return {
    name: nameOf(entry),
    source: entry.source,
    begin() {
      entry.users++;
    },
    end() {
      entry.users--;
      freeIfUnused(entry);
    },
  };
}

/** Reports the progress in steps of a tenth. */
function percentages(report: (news: DatasetStatus) => void): MakeOptions["onProgress"] {
  let reported = 0;
  return (items, all) => {
    const percent = 10 * Math.floor((10 * items) / all);
    if (percent > reported) report({ type: "dataset", state: "growing", percent });
    reported = Math.max(reported, percent);
  };
}
