import { rm, statfs, writeFile } from "node:fs/promises";
import { join } from "node:path";

/** More bytes than a service writes between two checks. */
const LEAST_FREE_BYTES = 64 * 1024 * 1024;
const PROBE_BYTES = 64 * 1024;

/** The file that is written and deleted to test whether a folder is writable. */
export const PROBE_FILE = ".anulo-disk-probe";

/** Tests whether files can be written in a folder; resolves with the reason if not. */
export async function probeDisk(folder: string): Promise<string | undefined> {
  const { bavail, bsize } = await statfs(folder);
  const free = bavail * bsize;
  if (free < LEAST_FREE_BYTES) return `${Math.floor(free / 1024 ** 2)} MiB are free`;
  const path = join(folder, PROBE_FILE);
  try {
    await writeFile(path, new Uint8Array(PROBE_BYTES));
    return undefined;
  } catch (error) {
    return `writing failed: ${(error as NodeJS.ErrnoException).code ?? "unknown"}`;
  } finally {
    await rm(path, { force: true });
  }
}
