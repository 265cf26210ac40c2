/** The key of a service, in a file of its own. */
import { randomBytes } from "node:crypto";
import { mkdir, open, readFile } from "node:fs/promises";
import { dirname } from "node:path";
import { WalletRefusal } from "../refusal.ts";
import { syncDirectory } from "./journal.ts";

const KEY_BYTES = 32;

const refuse = (why: string) => new WalletRefusal("UNKNOWN_ERROR", `The service's key can't be had: ${why}`);

/**
 * The key in a file: 32 bytes, generated if the file is missing, which only its owner can read. Throws `WalletRefusal`.
 */
export async function readServiceKey(path: string): Promise<Uint8Array> {
  try {
    const key = await readFile(path);
    if (key.length !== KEY_BYTES) throw refuse(`${path} has ${key.length} bytes, not ${KEY_BYTES}`);
    return key;
  } catch (error) {
    if (error instanceof WalletRefusal) throw error;
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw refuse((error as Error).message);
  }
  try {
    return await makeKey(path);
  } catch (error) {
    throw refuse((error as Error).message);
  }
}

async function makeKey(path: string): Promise<Uint8Array> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  const key = randomBytes(KEY_BYTES);
  const file = await open(path, "wx", 0o600);
  try {
    await file.writeFile(key);
    await file.sync();
  } finally {
    await file.close();
  }
  await syncDirectory(dirname(path));
  return key;
}
