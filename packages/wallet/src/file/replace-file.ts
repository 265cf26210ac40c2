/** Files that are replaced as a whole. */
import { open, rename, rm } from "node:fs/promises";
import { dirname } from "node:path";
import { syncDirectory } from "./journal.ts";

/** Replaces a file durably and in one step; only its owner can read it. Throws errors of the file system. */
export async function replaceFile(path: string, bytes: Uint8Array | string): Promise<void> {
  const next = `${path}.new`;
  try {
    const file = await open(next, "w", 0o600);
    try {
      await file.writeFile(bytes);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(next, path);
    await syncDirectory(dirname(path));
  } catch (error) {
    await rm(next, { force: true });
    throw error;
  }
}
