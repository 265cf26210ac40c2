import { closeSync, openSync, readFileSync, rmSync, writeSync } from "node:fs";
import { setTimeout } from "node:timers/promises";
import { DatabaseInUse } from "./damage.ts";

/** Keeps other processes, and other parts of this one, from opening the same database. */
export interface ProcessLock {
  /**
   * Throws DatabaseInUse if another process has taken the lock over: who finds one of a process that is gone at the same
   * time as others, or half written, may remove the one that was just taken.
   */
  confirm(): void;
  release(): void;
}

/**
 * Start time of a process, in the system's own unit; empty if the process has ended and was not yet collected by its
 * parent; undefined if the system does not tell. Source: proc(5), fields 3 and 22 of `stat`.
 */
function startTimeOf(processId: number): string | undefined {
  try {
    const stat = readFileSync(`/proc/${processId}/stat`, "utf8");
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return fields[0] === "Z" ? "" : fields[19];
  } catch {
    return undefined;
  }
}

function isAlive(processId: number, beginning: string): boolean {
  let isForeign = false;
  try {
    process.kill(processId, 0);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ESRCH") return false;
    isForeign = code === "EPERM";
  }
  const startTime = startTimeOf(processId);
  // The system may hide from us when a process of another user has started. Source: proc(5), hidepid.
  if (startTime === undefined && isForeign) return true;
  // The process number may belong to another process by now.
  return beginning === "" || startTime === beginning;
}

/** The process that holds the lock, if it still exists. */
function holderOf(lockPath: string): number | undefined {
  let text: string;
  try {
    text = readFileSync(lockPath, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
  const [processId = "", beginning = ""] = text.trim().split(" ");
  if (!/^\d+$/.test(processId)) return undefined;
  return isAlive(Number(processId), beginning) ? Number(processId) : undefined;
}

/** The text of a lock of this process. */
const ownText = () => `${process.pid} ${startTimeOf(process.pid) ?? ""}\n`;

function isOwn(lockPath: string): boolean {
  try {
    return readFileSync(lockPath, "utf8") === ownText();
  } catch {
    return false;
  }
}

function takeLock(lockPath: string): boolean {
  try {
    const file = openSync(lockPath, "wx");
    writeSync(file, ownText());
    closeSync(file);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw error;
  }
}

/** Milliseconds that a process which was just killed may take to disappear. */
const LOCK_TIMEOUT_MS = 500;
const LOCK_POLL_MS = 50;

/** Acquires the lock of a database; throws DatabaseInUse. The lock of a process that was killed is taken over. */
export async function lockForProcess(path: string): Promise<ProcessLock> {
  const lockPath = `${path}.pid`;
  for (let waited = 0; !takeLock(lockPath); waited += LOCK_POLL_MS) {
    const holder = holderOf(lockPath);
    if (holder === undefined) rmSync(lockPath, { force: true });
    else if (holder === process.pid || waited >= LOCK_TIMEOUT_MS) throw new DatabaseInUse(path, holder);
    else await setTimeout(LOCK_POLL_MS);
  }
  return {
    confirm() {
      if (!isOwn(lockPath)) throw new DatabaseInUse(path, holderOf(lockPath));
    },
    release() {
      if (isOwn(lockPath)) rmSync(lockPath, { force: true });
    },
  };
}
