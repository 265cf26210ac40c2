import type { DatasetNews, SeedSource } from "./messages.ts";
import type { Use } from "./seeds.ts";

/** The dataset that long searches use: at most one, made when it is wanted and let go when it is not. */
export interface Datasets {
  /** The dataset of this cache's seed; undefined while it is being made, which this begins. */
  use(cache: Use): Use | undefined;
}

export interface MakingOptions {
  readonly signal: AbortSignal;
  readonly onProgress: (items: number, all: number) => void;
}

/** How datasets are made. */
export interface DatasetMakers {
  /** Rejects when it is given up, or there is no memory. */
  make(cache: SeedSource, options: MakingOptions): Promise<SeedSource>;
  /** Frees what nobody uses any more. */
  free(dataset: SeedSource): Promise<void>;
}

export interface DatasetsOptions {
  readonly makers: DatasetMakers;
  readonly report: (news: DatasetNews) => void;
  /** Told the name of a dataset that no thread may use from now on. */
  readonly onLetGo: (name: string) => void;
  /** Milliseconds, from any point on. */
  readonly now: () => number;
}

/** Longer than the pause between two templates of a miner. */
const UNWANTED_MS = 60_000;
const LOOK_MS = 5000;

interface Entry {
  readonly seed: string;
  readonly abort: AbortController;
  source: SeedSource | undefined;
  users: number;
  wantedAt: number;
  isLetGo: boolean;
}

/** Starts without a dataset. */
export function createDatasets({ makers, report, onLetGo, now }: DatasetsOptions): Datasets {
  let current: Entry | undefined;
  const freeIfUnused = ({ source, users, isLetGo }: Entry) => {
    if (source !== undefined && users === 0 && isLetGo) makers.free(source).catch(() => {});
  };
  const letGo = (entry: Entry) => {
    if (entry === current) current = undefined;
    entry.isLetGo = true;
    entry.abort.abort();
    if (entry.source === undefined) return;
    onLetGo(nameOf(entry));
    freeIfUnused(entry);
    report({ type: "dataset", state: "let go" });
  };
  const make = async (entry: Entry, cache: Use) => {
    cache.begin();
    try {
      report({ type: "dataset", state: "begun" });
      const options = { signal: entry.abort.signal, onProgress: percentages(report) };
      entry.source = await makers.make(cache.source, options);
      if (entry.isLetGo) freeIfUnused(entry);
      else report({ type: "dataset", state: "ready" });
    } catch (error) {
      // One that failed is not tried again as long as it is wanted.
      if (!entry.isLetGo) report({ type: "dataset", state: "failed", reason: String(error) });
    } finally {
      cache.end();
    }
  };
  setInterval(() => {
    if (current !== undefined && now() - current.wantedAt > UNWANTED_MS) letGo(current);
  }, LOOK_MS).unref();
  return {
    use(cache) {
      if (current !== undefined && current.seed !== cache.name) letGo(current);
      if (current === undefined) {
        const abort = new AbortController();
        current = { seed: cache.name, abort, source: undefined, users: 0, wantedAt: 0, isLetGo: false };
        void make(current, cache);
      }
      current.wantedAt = now();
      return useOf(current, freeIfUnused);
    },
  };
}

const nameOf = ({ seed }: Entry) => `${seed} dataset`;

function useOf(entry: Entry, freeIfUnused: (entry: Entry) => void): Use | undefined {
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

/** Reports every tenth of the way. */
function percentages(report: (news: DatasetNews) => void): MakingOptions["onProgress"] {
  let reported = 0;
  return (items, all) => {
    const percent = 10 * Math.floor((10 * items) / all);
    if (percent > reported) report({ type: "dataset", state: "growing", percent });
    reported = Math.max(reported, percent);
  };
}
