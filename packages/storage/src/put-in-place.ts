import { closeSync, fsyncSync, openSync, renameSync } from "node:fs";
import { dirname } from "node:path";

/** A name in a folder survives a loss of power once the folder is synced. Source: fsync(2). */
export function syncFolder(path: string): void {
  // Windows opens no folders as files, and keeps names by itself.
  if (process.platform === "win32") return;
  const folder = openSync(path, "r");
  try {
    fsyncSync(folder);
  } finally {
    closeSync(folder);
  }
}

/** Gives a file that is on disk its name, for good. */
export function putInPlace(draft: string, path: string): void {
  renameSync(draft, path);
  syncFolder(dirname(path));
}

/** Makes the names of new folders last: from `path` up to `first`, the highest one that was created. */
export function syncFoldersAbove(path: string, first: string): void {
  for (let folder = path; ; folder = dirname(folder)) {
    syncFolder(dirname(folder));
    if (folder === first || folder === dirname(folder)) return;
  }
}
