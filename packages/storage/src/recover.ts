import { closeSync, existsSync, fdatasyncSync, fstatSync, ftruncateSync, openSync } from "node:fs";
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

/** What was found in a file before it was opened. */
export interface Recovery {
  /** Whether the last flushed state was restored, because power was lost after it. */
  readonly rolledBack: boolean;
  /** Whether no state of it was ever flushed: it has just been created. */
  readonly isNew: boolean;
  /** The state it was left in. */
  readonly state: MetaPage;
}

/** Where the pages of a header begin that say nothing: the common sizes of pages. */
const PAGE_SIZES = [4096, 16384, 65536];

/** The newest mark, even where the file's first page is torn; throws as `readPageSize` does where there is none. */
function findMark(file: number): FlushMark | undefined {
  for (const size of PAGE_SIZES) {
    const mark = readFlushMark(file, size);
    if (mark?.meta.pageSize === size) return mark;
  }
  return readFlushMark(file, readPageSize(file));
}

/** Two images of the same state, the numbers of their pages apart. */
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

/** A process that was killed left all it wrote with the operating system: the newest state is whole. */
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

/** The last pages of a state may never have been written, when all of them are free. */
function extend(file: number, state: MetaPage): void {
  if (fstatSync(file).size < sizeOfState(state)) ftruncateSync(file, sizeOfState(state));
}

/**
 * Looks at a database file nobody has open, and rolls back what a loss of power may have torn. Undefined where there
 * is no file yet. Throws DamagedDatabase or WrongDatabase.
 */
export function recoverFile(path: string): Recovery | undefined {
  if (!existsSync(path)) return undefined;
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
