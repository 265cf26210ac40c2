/** Files that are replaced as a whole. */
import { open, rename, rm } from "node:fs/promises";
import { dirname } from "node:path";
import { syncDirectory } from "./journal.ts";

/** Puts bytes in place of a file, durably and in one step; its owner alone may read it. Throws what the file system does. */
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

/** Makes a file that its owner alone may read, durably. Throws what the file system does, also where it is there. */
export async function makeFile(path: string, bytes: Uint8Array | string): Promise<void> {
  const file = await open(path, "wx", 0o600);
  try {
    await file.writeFile(bytes);
    await file.sync();
  } finally {
    await file.close();
  }
  await syncDirectory(dirname(path));
}
