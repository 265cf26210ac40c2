import { closeSync, openSync } from "node:fs";
import { SLICE_MS, TimeSlice } from "@anulo/limits";
import { DamagedDatabase } from "./damage.ts";
import type { Environment } from "./environment.ts";
import { type MetaPage, newestMeta, readMetaPages, readPageSize } from "./meta-pages.ts";
import { checkPages, type PageCheck } from "./page-walk.ts";

/**
 * Milliseconds that opening may spend on the structure of the file, upper pages first: the pages that opening itself
 * will follow are checked before.
 */
const OPENING_CHECK_MS = 20;
/** Milliseconds of checking while the file is in use: enough for some 10 MB. */
const BACKGROUND_CHECK_MS = 200;

type Steps = Generator<PageCheck, PageCheck>;

/** Continues for about this many milliseconds; `isOver`: there are no more steps. */
function runFor(steps: Steps, milliseconds: number): { readonly check: PageCheck; readonly isOver: boolean } {
  const end = performance.now() + milliseconds;
  for (;;) {
    const { value: check, done: isOver = false } = steps.next();
    if (isOver || performance.now() >= end) return { check, isOver };
  }
}

/**
 * Checks the structure of a file that no process has open: all of it, or as much as the time allows; throws
 * DamagedDatabase.
 */
export function checkClosedFile(path: string, state: MetaPage, isWhole: boolean): void {
  const file = openSync(path, "r");
  try {
    const steps = checkPages(file, state, { isDepthFirst: isWhole });
    runFor(steps, isWhole ? Number.POSITIVE_INFINITY : OPENING_CHECK_MS);
  } finally {
    closeSync(file);
  }
}

/**
 * Checks the structure of the file's newest state while it is in use, in slices and as far as the time allows. A reader
 * pins that state, so that none of its pages is overwritten meanwhile. Rejects with DamagedDatabase, or with the reason
 * of the signal.
 */
export async function checkOpenFile(
  path: string,
  { root }: Environment,
  signal: AbortSignal,
): Promise<PageCheck> {
  const file = openSync(path, "r");
  const pin = root.useReadTransaction();
  try {
    const state = newestMeta(readMetaPages(file, readPageSize(file)));
    const steps = checkPages(file, state, { isDepthFirst: false });
    const slice = new TimeSlice({ signal });
    for (let remainingMs = BACKGROUND_CHECK_MS; ; remainingMs -= SLICE_MS) {
      await slice.yield();
      const { check, isOver } = runFor(steps, SLICE_MS);
      if (isOver || remainingMs <= SLICE_MS) return check;
    }
  } catch (error) {
    throw error instanceof DamagedDatabase ? new DamagedDatabase(error.detail, path) : error;
  } finally {
    pin.done();
    closeSync(file);
  }
}
