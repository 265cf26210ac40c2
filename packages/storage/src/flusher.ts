import { closeSync, fdatasync, fstatSync, ftruncateSync, openSync } from "node:fs";
import { promisify } from "node:util";
import type { Transaction } from "lmdb";
import { writeFailed } from "./damage.ts";
import type { Environment } from "./environment.ts";
import { currentBootId, readFlushMark, writeFlushMark } from "./flush-mark.ts";
import { type MetaPage, newestMeta, readMetaPages, readPageSize, sizeOfState } from "./meta-pages.ts";
import type { SyncMode } from "./sync-mode.ts";

const flushToDisk = promisify(fdatasync);

/** Flushes commits to disk beside the event loop, so that a loss of power never damages the file. */
export interface Flusher {
  /** To be called after every commit. */
  written(change: { readonly blocks: number; readonly bytes: number }): void;
  /** Resolves once all that was written so far counts as stored in this sync mode. */
  settled(): Promise<void>;
  /** Resolves once all that was written so far survives a loss of power; rejects with WriteFailed. */
  flush(): Promise<void>;
  close(): Promise<void>;
}

export interface FlusherOptions {
  readonly environment: Environment;
  readonly path: string;
  readonly mode: SyncMode;
  /** Called when the disk fails: nothing written from then on is reliable. */
  readonly onFault: (fault: Error) => void;
}

/** Milliseconds for which a commit may wait to be flushed together with others. */
const FLUSH_DELAY_MS = 1000;

/**
 * Pages are not reused before a flush, so commits make the file grow: each by the pages from the roots of its tables
 * down to its rows, about this many bytes besides its data.
 */
const PATH_BYTES = 160_000;
const MAX_GROWTH_BYTES = 16_000_000;

/**
 * A flush writes the data, then a mark with the root of the state that is now on disk. Until the next mark is on disk,
 * a reader pins that state, so that LMDB reuses none of its pages: whatever happens to newer root pages in a loss of
 * power, the marked state is complete.
 */
interface Durable {
  readonly file: number;
  readonly pageSize: number;
  readonly bootId: Buffer;
  sequence: number;
  pin: Transaction | undefined;
}

function newestState({ file, pageSize }: Durable): MetaPage {
  const meta = newestMeta(readMetaPages(file, pageSize));
  // Pages at the end that were freed before they were written; later checks expect the file to have its full size.
  if (fstatSync(file).size < sizeOfState(meta)) ftruncateSync(file, sizeOfState(meta));
  return meta;
}

async function flushOnce(durable: Durable, { root }: Environment): Promise<void> {
  const { file, bootId } = durable;
  const meta = newestState(durable);
  const pin = root.useReadTransaction();
  try {
    await flushToDisk(file);
    durable.sequence++;
    writeFlushMark(file, { sequence: durable.sequence, bootId, meta });
    await flushToDisk(file);
  } catch (error) {
    pin.done();
    throw error;
  }
  durable.pin?.done();
  durable.pin = pin;
}

interface UnflushedWork {
  blocks: number;
  bytes: number;
  /** Estimated bytes by which the file has grown. */
  growth: number;
}

const noWork = (): UnflushedWork => ({ blocks: 0, bytes: 0, growth: 0 });

/** Creates the flusher for the file as it is; the first flush has to come before the first write. */
export function createFlusher({ environment, path, mode, onFault }: FlusherOptions): Flusher {
  const file = openSync(path, "r+");
  const pageSize = readPageSize(file);
  const sequence = readFlushMark(file, pageSize)?.sequence ?? 0;
  const durable: Durable = { file, pageSize, bootId: currentBootId(), sequence, pin: undefined };
  let pending: UnflushedWork | undefined = noWork();
  let running: Promise<void> | undefined;
  let following: Promise<void> | undefined;
  let timer: NodeJS.Timeout | undefined;

  const run = async () => {
    clearTimeout(timer);
    timer = undefined;
    pending = undefined;
    try {
      await flushOnce(durable, environment);
    } catch (error) {
      pending ??= noWork();
      const fault = writeFailed("the database could not be flushed", error);
      onFault(fault);
      throw fault;
    } finally {
      running = undefined;
    }
  };
  /** Only one flush runs at a time; callers during a flush share the next one. */
  const flush = (): Promise<void> => {
    if (pending === undefined) return running ?? Promise.resolve();
    if (running === undefined) {
      running = run();
      return running;
    }
    following ??= running
      .catch(() => {})
      .then(() => {
        following = undefined;
        return flush();
      });
    return following;
  };
  const inBackground = () => void flush().catch(() => {});
  const isDue = () => pending !== undefined && pending[mode.every.unit] >= mode.every.count;
  const hasGrownTooMuch = () =>
    mode.mode !== "fastest" && pending !== undefined && pending.growth > MAX_GROWTH_BYTES;
  return {
    written({ blocks, bytes }) {
      pending ??= noWork();
      pending.blocks += blocks;
      pending.bytes += bytes;
      pending.growth += PATH_BYTES + 2 * bytes;
      if (isDue() || hasGrownTooMuch()) inBackground();
      else if (mode.mode !== "fastest") timer ??= setTimeout(inBackground, FLUSH_DELAY_MS).unref();
    },
    settled() {
      const mustWait = mode.mode === "safe" || (mode.isAwaited && (isDue() || running !== undefined));
      return mustWait ? flush() : Promise.resolve();
    },
    flush,
    async close() {
      // A flush that fails was reported already; the file remains in the state of the last mark.
      await flush().catch(() => {});
      clearTimeout(timer);
      durable.pin?.done();
      closeSync(file);
    },
  };
}
