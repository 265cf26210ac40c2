/**
 * LMDB's lock file tells the processes that use a database apart by their numbers. Processes in containers of their own
 * may have the same one: the second would wait for the first to end.
 */
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { WalletRefusal } from "../refusal.ts";
import { HeldLock, isHeldElsewhere, isHeldHere, type LockOptions, takeLock } from "./wallet-lock.ts";

const lockIn = (folder: string): string => join(folder, `process-${process.pid}.lock`);

/**
 * Takes the number of this process for the databases in a folder, and returns a function that releases it; undefined if
 * a process in another container has it. Where the disk is full it is not noted.
 */
export async function takeNumber(
  folder: string,
  options: LockOptions = {},
): Promise<(() => Promise<void>) | undefined> {
  const lock = lockIn(folder);
  const nothing = async () => undefined;
  // Services of one process share the database.
  if (await isHeldHere(lock)) return nothing;
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    return await takeLock(lock, options);
  } catch (error) {
    if (error instanceof HeldLock) return undefined;
    if (error instanceof WalletRefusal || (error as NodeJS.ErrnoException).code !== undefined) return nothing;
    throw error;
  }
}

/** Whether a process in another container has the number of this one, for the databases in a folder. */
export async function isNumberTaken(folder: string, watchMs?: number): Promise<boolean> {
  return await isHeldElsewhere(lockIn(folder), watchMs);
}
