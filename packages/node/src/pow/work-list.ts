import { toHex } from "@anulo/protocol";
import type { Datasets } from "./datasets.ts";
import { createHashQueue, type HashJob } from "./hash-queue.ts";
import type { Engine, PowAnswer, PowQuestion, ThreadResult, ThreadTask } from "./messages.ts";
import { createSearchRun, type NonceRun, type SearchRun } from "./search-run.ts";
import { createSeeds, type HeldSource, type Seeds } from "./seeds.ts";
import { type PowSearch, seedOf } from "./work.ts";

/** A task for a thread, and the function that handles its result. */
export interface ThreadJob {
  readonly task: ThreadTask;
  /** The source that the thread needs for it. */
  readonly use: HeldSource | undefined;
  /** The name of a source that no thread may use from now on. */
  readonly dropped?: string | undefined;
  /** Returns the answers that follow from the result of a task that took `ms` milliseconds. */
  complete(result: ThreadResult, ms: number): PowAnswer[];
}

/** The open questions, and the order of the work they require. */
export interface WorkList {
  add(question: PowQuestion): void;
  /** The next job, if one can be done now. */
  next(): ThreadJob | undefined;
  /** Milliseconds until there may be a job without a new question or answer; undefined when there will be none. */
  restLeft(): number | undefined;
  /** Number of threads there is work for: those for verification, or more if a search uses them. */
  threadsWanted(): number;
}

interface Search {
  readonly id: number;
  readonly search: PowSearch;
  readonly run: SearchRun;
}

/** Which code computes RandomX; undefined until it is determined. */
interface EngineChoice {
  engine: Engine | undefined;
  isBeingMade: boolean;
}

interface WorkState {
  readonly datasets: Datasets;
  readonly choice: EngineChoice;
  readonly seeds: Seeds;
  readonly hashes: ReturnType<typeof createHashQueue>;
  readonly searches: Map<number, Search>;
}

export interface WorkListOptions {
  /** Threads for verification. */
  readonly threads: number;
  /** Which code computes RandomX, if that is known. */
  readonly engine: Engine | undefined;
  readonly datasets: Datasets;
  /** Returns milliseconds since an arbitrary start. */
  readonly now: () => number;
}

/** Creates an empty list: hashes have priority, then searches, then seeds needed later; then old caches are freed. */
export function createWorkList({ threads, engine, datasets, now }: WorkListOptions): WorkList {
  const choice: EngineChoice = { engine, isBeingMade: false };
  const hashes = createHashQueue(now);
  const lists: WorkState = { datasets, choice, seeds: createSeeds(now), hashes, searches: new Map() };
  const { seeds, searches } = lists;
  let future: Uint8Array | undefined;
  const isReady = (seed: string | undefined) => seed === undefined || seeds.stateOf(seed) === "ready";
  const nextHash = (): ThreadJob | undefined => {
    const lacking = hashes.missingSeed(isReady);
    const job = lacking?.isDue ? undefined : hashes.take(isReady);
    if (job !== undefined) return hashJob(seeds, job);
    const make = lacking && cacheJob(lists, lacking.seedId);
    if (make !== undefined) return make;
    const other = hashes.take(isReady);
    return other && hashJob(seeds, other);
  };
  const nextRun = (): ThreadJob | undefined => {
    for (const search of searches.values()) {
      const { seedId } = search.search;
      if (!isReady(seedOf(search.search))) {
        const make = seedId && cacheJob(lists, seedId);
        if (make) return make;
        continue;
      }
      const run = search.run.take();
      if (run !== undefined) return searchJob(lists, search, run);
    }
    return undefined;
  };
  return {
    add(question) {
      if (question.type === "hash") hashes.add(question);
      else if (question.type === "abandon") searches.delete(question.id);
      else if (question.type === "seeds") {
        seeds.pin(toHex(question.current), question.next && toHex(question.next));
        future = question.next;
      } else {
        const run = createSearchRun(question.search, { threads: question.search.threads ?? threads, now });
        searches.set(question.id, { ...question, run });
      }
    },
    next: () => nextHash() ?? nextRun() ?? (future && cacheJob(lists, future)) ?? freeJob(seeds),
    restLeft() {
      const rests = [...searches.values()].map(({ run }) => run.restLeft());
      const waits = [...rests, seeds.staleLeft()].filter((ms) => ms !== undefined);
      return waits.length === 0 ? undefined : Math.min(...waits);
    },
    threadsWanted() {
      const threadCounts = [...searches.values()].map(({ search }) => search.threads ?? 0);
      return Math.max(threads, ...threadCounts);
    },
  };
}

function cpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

function reasonOf(result: ThreadResult): string {
  return result.type === "failed" ? result.reason : `an odd result: ${result.type}`;
}

/** Determines which code computes RandomX; undefined while that is under way. */
function engineJob(choice: EngineChoice): ThreadJob | undefined {
  if (choice.isBeingMade) return undefined;
  choice.isBeingMade = true;
  return {
    task: { type: "choose" },
    use: undefined,
    complete(result) {
      const isChosen = result.type === "chosen";
      choice.engine = isChosen ? result.engine : "portable";
      const reason = isChosen ? result.reason : reasonOf(result);
      return [{ type: "engine", engine: choice.engine, reason }];
    },
  };
}

/** Makes a cache; undefined when that is under way, done, or not possible yet. */
function cacheJob(lists: WorkState, seedId: Uint8Array): ThreadJob | undefined {
  const { choice, seeds, hashes, searches } = lists;
  const { engine } = choice;
  if (engine === undefined) return engineJob(choice);
  const seed = toHex(seedId);
  const place = seeds.stateOf(seed) === "absent" ? seeds.reserve(seed) : undefined;
  if (place === undefined) return undefined;
  const { dropped, replaced } = place;
  return {
    task: { type: "make", seedId, engine, replaced },
    use: undefined,
    dropped,
    complete(result) {
      if (result.type === "made") {
        seeds.setReady(seed, result.source);
        hashes.markReady();
        return [];
      }
      seeds.failed(seed);
      const lost = [...searches.values()].filter(({ search }) => seedOf(search) === seed);
      for (const { id } of lost) searches.delete(id);
      return [...hashes.takeAll(seed), ...lost].map(({ id }) => ({
        type: "failed",
        id,
        reason: reasonOf(result),
      }));
    },
  };
}

/** Frees a cache that is not needed any more. */
function freeJob(seeds: Seeds): ThreadJob | undefined {
  const stale = seeds.takeStale();
  if (stale === undefined) return undefined;
  const { seed, source } = stale;
  return { task: { type: "free", source }, use: undefined, dropped: seed, complete: () => [] };
}

function hashJob(seeds: Seeds, { id, work }: HashJob): ThreadJob {
  const seed = seedOf(work);
  const use = seed === undefined ? undefined : seeds.use(seed);
  return {
    task: { type: "hash", work, source: use?.name },
    use,
    complete(result) {
      if (result.type === "hashed") return [{ type: "hashed", id, hash: result.hash }];
      return [{ type: "failed", id, reason: reasonOf(result) }];
    },
  };
}

/** A long search uses the dataset as soon as it is ready, and the cache until then. */
function useOf({ seeds, datasets }: WorkState, search: PowSearch): HeldSource | undefined {
  const seed = seedOf(search);
  const cache = seed === undefined ? undefined : seeds.use(seed);
  if (cache === undefined || search.isLong !== true) return cache;
  return datasets.use(cache) ?? cache;
}

function searchJob(lists: WorkState, { id, search, run }: Search, tried: NonceRun): ThreadJob {
  const { searches } = lists;
  const use = useOf(lists, search);
  const nonce = search.firstNonce + tried.offset;
  return {
    task: { type: "try", search, source: use?.name, nonce, count: tried.count },
    use,
    complete(result, ms) {
      if (!searches.has(id)) return [];
      if (result.type !== "tried") {
        searches.delete(id);
        return [{ type: "failed", id, reason: reasonOf(result) }];
      }
      const progress = { type: "progress", id, hashes: result.hashes, cpuMs: cpuMs() } as const;
      if (!run.finish(tried, { ...result, ms })) return [progress];
      searches.delete(id);
      return [progress, { type: "searched", id, nonce: run.bestNonce() }];
    },
  };
}
