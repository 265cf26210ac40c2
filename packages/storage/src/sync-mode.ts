/**
 * When data is flushed to disk. In every mode a killed process loses nothing, and a loss of power leaves an older
 * state, never a damaged file. Source: the flag `--db-sync-mode` of monerod.
 */
export interface SyncMode {
  /**
   * `safe`: a block counts as stored once it is flushed. `fast`: it counts at once, and is flushed within a second or
   * two. `fastest`: it is flushed only after a number of blocks or bytes.
   */
  readonly mode: "safe" | "fast" | "fastest";
  /** Whether the writer waits for the flush when one is due. */
  readonly isAwaited: boolean;
  /** A flush is due after this many blocks or bytes. */
  readonly every: { readonly unit: "blocks" | "bytes"; readonly count: number };
}

/** Text that is not a sync mode. */
export class BadSyncMode extends Error {
  constructor(text: string) {
    super(`${text} is no sync mode: [safe|fast|fastest][:sync|:async][:N[blocks]|:Nbytes]`);
    this.name = "BadSyncMode";
  }
}

/** Source: cryptonote_core.cpp `arg_db_sync_mode`. */
export const defaultSyncMode: SyncMode = {
  mode: "fast",
  isAwaited: false,
  every: { unit: "bytes", count: 250_000_000 },
};

const defaults: { readonly [M in SyncMode["mode"]]: SyncMode } = {
  safe: { mode: "safe", isAwaited: true, every: { unit: "blocks", count: 1 } },
  fast: defaultSyncMode,
  fastest: { mode: "fastest", isAwaited: false, every: { unit: "blocks", count: 1000 } },
};

function isMode(text: string): text is SyncMode["mode"] {
  return Object.hasOwn(defaults, text);
}

function parseCount(text: string | undefined): SyncMode["every"] | undefined {
  if (text === undefined) return undefined;
  const [, digits, unit] = /^(\d{1,15})(blocks|bytes)?$/.exec(text) ?? [];
  const count = Number(digits);
  if (digits === undefined || count === 0) throw new BadSyncMode(text);
  return { unit: unit === "bytes" ? "bytes" : "blocks", count };
}

/** Parses `fast:async:250000000bytes` and the like; throws BadSyncMode. */
export function parseSyncMode(text: string): SyncMode {
  const [mode = "", wait, count, ...more] = text.trim().split(":");
  if (!isMode(mode) || more.length > 0) throw new BadSyncMode(text);
  if (wait !== undefined && wait !== "sync" && wait !== "async") throw new BadSyncMode(text);
  const base = defaults[mode];
  if (mode === "safe") return base;
  return {
    mode,
    isAwaited: wait === undefined ? base.isAwaited : wait === "sync",
    every: parseCount(count) ?? base.every,
  };
}
