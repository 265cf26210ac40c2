import { closeSync, fdatasyncSync, fstatSync, ftruncateSync, openSync, statSync } from "node:fs";
import { DamagedDatabase } from "./damage.ts";
import { currentBootId, type FlushMark, isSameBoot, readFlushMark } from "./flush-mark.ts";
import {
  checkNotTruncated,
  type MetaPage,
  newestMeta,
  readMetaPages,
  readPageSize,
  restoreMeta,
  sizeOfState,
} from "./meta-pages.ts";

/** The state of a file before it was opened. */
export interface Recovery {
  /** Whether the last flushed state was restored, because of a loss of power after it. */
  readonly rolledBack: boolean;
  /** Whether no state of it was ever flushed, because it has just been created. */
  readonly isNew: boolean;
  /** The state that the file has now. */
  readonly state: MetaPage;
}

/** Common page sizes: the mark is looked for at these, because a torn first page does not contain the size. */
const PAGE_SIZES = [4096, 16384, 65536];

/** Finds the newest mark, even if the file's first page is torn; throws as `readPageSize` does if there is none. */
function findMark(file: number): FlushMark | undefined {
  for (const size of PAGE_SIZES) {
    const mark = readFlushMark(file, size);
    if (mark?.meta.pageSize === size) return mark;
  }
  return readFlushMark(file, readPageSize(file));
}

/** Whether two images are of the same state, apart from their page numbers. */
function isSameState(a: MetaPage, b: MetaPage): boolean {
  return a.commit === b.commit && a.image.subarray(PAGE_NUMBER_END).equals(b.image.subarray(PAGE_NUMBER_END));
}

const PAGE_NUMBER_END = 8;

/** A loss of power may have left any mixture of states newer than the mark, and torn root pages. */
function stateAfterPowerLoss(file: number, mark: FlushMark): { state: MetaPage; rolledBack: boolean } {
  try {
    const newest = newestMeta(readMetaPages(file, mark.meta.pageSize));
    if (isSameState(newest, mark.meta)) return { state: newest, rolledBack: false };
  } catch (error) {
    if (!(error instanceof DamagedDatabase)) throw error;
  }
  restoreMeta(file, mark.meta);
  fdatasyncSync(file);
  return { state: mark.meta, rolledBack: true };
}

/** All that a killed process wrote is in the operating system: the newest state is complete. */
function stateInSameBoot(file: number, { meta }: FlushMark): MetaPage {
  const newest = newestMeta(readMetaPages(file, meta.pageSize));
  if (newest.commit < meta.commit || (newest.commit === meta.commit && !isSameState(newest, meta))) {
    throw new DamagedDatabase("its root page is not what was written");
  }
  return newest;
}

function chooseState(file: number): Recovery {
  const mark = findMark(file);
  if (mark === undefined) {
    const state = newestMeta(readMetaPages(file, readPageSize(file)));
    checkNotTruncated(file, state);
    return { state, rolledBack: false, isNew: true };
  }
  checkNotTruncated(file, mark.meta);
  if (!isSameBoot(mark, currentBootId())) return { ...stateAfterPowerLoss(file, mark), isNew: false };
  return { state: stateInSameBoot(file, mark), rolledBack: false, isNew: false };
}

/** The last pages of a state may never have been written, if all of them are free. */
function extend(file: number, state: MetaPage): void {
  if (fstatSync(file).size < sizeOfState(state)) ftruncateSync(file, sizeOfState(state));
}

/**
 * Checks a database file that no process has open, and rolls back what a loss of power may have torn. Returns undefined
 * if there is no file yet. Throws DamagedDatabase or WrongDatabase.
 */
export function recoverFile(path: string): Recovery | undefined {
  if (statSync(path, { throwIfNoEntry: false }) === undefined) return undefined;
  const file = openSync(path, "r+");
  try {
    if (fstatSync(file).size === 0) return undefined;
    const recovery = chooseState(file);
    extend(file, recovery.state);
    return recovery;
  } finally {
    closeSync(file);
  }
}
