import { closeSync, fsyncSync, openSync, renameSync } from "node:fs";
import { dirname } from "node:path";

/** A name in a folder survives a loss of power once the folder is synced. Source: fsync(2). */
export function syncFolder(path: string): void {
  // On Windows folders cannot be opened as files, and names are durable without it.
  if (process.platform === "win32") return;
  const folder = openSync(path, "r");
  try {
    fsyncSync(folder);
  } finally {
    closeSync(folder);
  }
}

/** Renames a file that is on disk to its name, durably. */
export function putInPlace(draft: string, path: string): void {
  renameSync(draft, path);
  syncFolder(dirname(path));
}

/** Makes the names of new folders durable: from `path` up to `first`, the highest one that was created. */
export function syncFoldersAbove(path: string, first: string): void {
  for (let folder = path; ; folder = dirname(folder)) {
    syncFolder(dirname(folder));
    if (folder === first || folder === dirname(folder)) return;
  }
}
