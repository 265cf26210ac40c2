/** The id of a folder, by which processes recognise that they use the same one. */
import { randomBytes } from "node:crypto";
import { link, mkdir, open, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { syncDirectory } from "./journal.ts";

const ID_BYTES = 16;
const FILE = "folder";

/**
 * The id in a folder, 16 random bytes, created if missing; processes that create it at the same time get the same id.
 */
export async function folderId(folder: string): Promise<Uint8Array> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const path = join(folder, FILE);
  const found = await readId(path);
  if (found !== undefined) return found;
  const next = `${path}.${randomBytes(4).toString("hex")}.new`;
  const file = await open(next, "wx", 0o600);
  try {
    await file.writeFile(randomBytes(ID_BYTES));
    await file.sync();
    await link(next, path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  } finally {
    await file.close();
    await rm(next, { force: true });
  }
  await syncDirectory(folder);
  return (await readId(path))!;
}

async function readId(path: string): Promise<Uint8Array | undefined> {
  const bytes = await readFile(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return undefined;
    throw error;
  });
  if (bytes !== undefined && bytes.length !== ID_BYTES)
    throw new Error(`${path} has ${bytes.length} bytes, not ${ID_BYTES}`);
  return bytes;
}
