import type { SeedSource } from "./messages.ts";

/** The caches of the process: at most two, so that memory is bounded whatever seeds blocks name. */
export interface Seeds {
  /** By the seed in hexadecimal. */
  stateOf(seed: string): "ready" | "making" | "absent";
  /** The cache of a seed for a thread to use; undefined where it is not ready. */
  use(seed: string): HeldSource | undefined;
  /** Reserves a slot for a seed, replacing one that is not in use; undefined if there is no slot now. */
  reserve(seed: string): CacheSlot | undefined;
  /** The cache in the slot is ready. */
  setReady(seed: string, source: SeedSource): void;
  /** The slot is free again. */
  failed(seed: string): void;
  /** This seed keeps its slot, and it and the next one keep their caches, even if they are not used for long. */
  pin(seed: string, next: string | undefined): void;
  /** Removes and returns a cache that was not used for a minute, to be freed. */
  takeStale(): { readonly seed: string; readonly source: SeedSource } | undefined;
  /** Milliseconds until there may be one; undefined when there will be none. */
  staleLeft(): number | undefined;
}

/** A source to hash with, which is not removed between `begin` and `end`. */
export interface HeldSource {
  readonly name: string;
  readonly source: SeedSource;
  begin(): void;
  end(): void;
}

/** A slot for a cache. */
export interface CacheSlot {
  /** The seed that the slot had before. */
  readonly dropped: string | undefined;
  readonly replaced: SeedSource | undefined;
}

/** One for the seed in use, and one for the next seed or that of an alternative chain. */
const MAX_CACHES = 2;

/** Milliseconds without use after which a cache is freed: branches from before a new seed are short. */
const STALE_MS = 60_000;

interface Entry {
  source: SeedSource | undefined;
  users: number;
  /** When it was last in use. */
  since: number;
}

/** Creates it without caches. The least recently used one is replaced first. */
export function createSeeds(now: () => number): Seeds {
  const entries = new Map<string, Entry>();
  let pinned: string | undefined;
  let next: string | undefined;
  const touch = (seed: string): Entry | undefined => {
    const entry = entries.get(seed);
    if (entry === undefined) return undefined;
    entries.delete(seed);
    entries.set(seed, entry);
    return entry;
  };
  const addUsers = (seed: string, count: number) => {
    const entry = touch(seed);
    if (entry === undefined) return;
    entry.users += count;
    entry.since = now();
  };
  /** Caches that may be freed; none until the seed in use is known. */
  const unpinned = () =>
    [...entries].filter(
      ([seed, { source, users }]) =>
        pinned !== undefined && seed !== pinned && seed !== next && source !== undefined && users === 0,
    );
  const msLeft = ({ since }: Entry) => Math.max(0, since + STALE_MS - now());
  const slotOf = (seed: string | undefined): CacheSlot => {
    const replaced = seed === undefined ? undefined : entries.get(seed)?.source;
    if (seed !== undefined) entries.delete(seed);
    return { dropped: seed, replaced };
  };
  return {
    stateOf(seed) {
      const entry = entries.get(seed);
      if (entry === undefined) return "absent";
      return entry.source === undefined ? "making" : "ready";
    },
    use(seed) {
      const source = entries.get(seed)?.source;
      if (source === undefined) return undefined;
      return { name: seed, source, begin: () => addUsers(seed, 1), end: () => addUsers(seed, -1) };
    },
    reserve(seed) {
      const idle = [...entries].find(([key, { source, users }]) => source && users === 0 && key !== pinned);
      if (entries.size >= MAX_CACHES && idle === undefined) return undefined;
      const place = slotOf(entries.size >= MAX_CACHES ? idle?.[0] : undefined);
      entries.set(seed, { source: undefined, users: 0, since: now() });
      return place;
    },
    setReady(seed, source) {
      const entry = entries.get(seed);
      if (entry === undefined) return;
      entry.source = source;
      entry.since = now();
    },
    failed: (seed) => void entries.delete(seed),
    pin(seed, soon) {
      pinned = seed;
      next = soon;
    },
    takeStale() {
      const [seed, entry] = unpinned().find(([, each]) => msLeft(each) === 0) ?? [];
      if (seed === undefined || entry?.source === undefined) return undefined;
      entries.delete(seed);
      return { seed, source: entry.source };
    },
    staleLeft() {
      const waits = unpinned().map(([, entry]) => msLeft(entry));
      return waits.length === 0 ? undefined : Math.min(...waits);
    },
  };
}
