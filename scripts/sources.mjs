// The repository's own files, for the scripts beside this one.
import { readdirSync, statSync } from "node:fs";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";

export const root = fileURLToPath(new URL("..", import.meta.url));

/** Folders that hold nothing written by hand. */
const skipped = new Set(["node_modules", "dist", ".git", "coverage", "generated"]);

/** Every file below `folder` (relative to the root) whose name matches, as sorted paths relative to the root. */
export function filesBelow(folder, matches) {
  const files = [];
  const walk = (path) => {
    for (const entry of readdirSync(path, { withFileTypes: true })) {
      const child = join(path, entry.name);
      if (entry.isDirectory()) {
        if (!skipped.has(entry.name)) walk(child);
      } else if (matches(entry.name)) files.push(relative(root, child));
    }
  };
  const start = join(root, folder);
  if (statSync(start, { throwIfNoEntry: false })?.isDirectory()) walk(start);
  return files.sort();
}

/** Milliseconds of the newest change among files (relative to the root), 0 for none. */
export function newestChange(files) {
  return files.reduce((newest, file) => Math.max(newest, statSync(join(root, file)).mtimeMs), 0);
}
