/**
 * Keeps a second service from writing the files of a wallet: a lock file that names its holder. Where processes can
 * see each other, we ask the system whether the holder is alive. Elsewhere (another container, another machine with the
 * same folder) the holder shows that it is alive by touching the file.
 */
import { createHash, randomUUID } from "node:crypto";
import { open, readFile, readlink, rm, stat, utimes } from "node:fs/promises";
import { hostname } from "node:os";
import { setTimeout as delay } from "node:timers/promises";
import { failedToOpen, refuseUnwritten } from "../refusal.ts";
import type { WalletPaths } from "./wallet-files.ts";

/** Who keeps others from the wallets of a folder. */
export interface WalletLocks {
  /** Takes a wallet's lock; what is given gives it back. Throws `WalletRefusal`. */
  take(paths: WalletPaths): Promise<() => Promise<void>>;
  /** Throws a refusal where a lock that was taken may be another's by now. */
  confirm(paths: WalletPaths): Promise<void>;
}

/** A file each, which lasts as long as its holder. */
export const fileLocks: WalletLocks = {
  take: ({ lock }) => takeLock(lock),
  confirm: async () => undefined,
};

/** Between two touches of a lock. */
const TOUCH_MS = 1000;
/** A lock untouched for this long counts as abandoned where its holder's process cannot be seen. */
const WATCH_MS = 3500;

/** Tells this process, which may run several services, from one that had its number before. */
const THIS_PROCESS = randomUUID();

/** How this process names itself in a lock; in a copy of the file elsewhere the name means nothing. */
function nameIn(lock: string): string {
  return createHash("sha256").update(THIS_PROCESS).update(lock).digest("hex");
}

/** Who holds a lock: a process, when it began, among which processes its number counts, and its name for itself. */
type Holder = {
  readonly pid: number;
  readonly start: string;
  readonly scope: string;
  readonly name: string | undefined;
};

/** When a process started, where the system says so: its number may be given to another process later. */
async function startOf(pid: number): Promise<string> {
  const text = await readFile(`/proc/${pid}/stat`, "latin1").catch(() => "");
  // After the name, which may hold anything. Source: proc_pid_stat(5), starttime.
  return text.slice(text.lastIndexOf(")") + 2).split(" ")[19] ?? "";
}

/** Processes of one scope see each other. Source: proc_sys_kernel(5), boot_id; pid_namespaces(7). */
async function scopeHere(): Promise<string> {
  const boot = await readFile("/proc/sys/kernel/random/boot_id", "latin1").catch(() => hostname());
  const namespace = await readlink("/proc/self/ns/pid").catch(() => "");
  return `${boot.trim()}/${namespace}`;
}

async function read(lock: string): Promise<string> {
  return await readFile(lock, "utf8").catch(() => "");
}

function holderOf(text: string): Holder | undefined {
  const [number, start = "", scope = "", name] = text.split(" ");
  const pid = Number(number);
  return Number.isSafeInteger(pid) && pid > 0 && scope !== "" ? { pid, start, scope, name } : undefined;
}

async function isAlive({ pid, start }: Holder): Promise<boolean> {
  if (pid === process.pid) return false;
  try {
    process.kill(pid, 0);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EPERM") return false;
  }
  return start === "" || start === (await startOf(pid));
}

/** What changes with every touch; undefined once the file is gone. */
async function touchOf(lock: string): Promise<string | undefined> {
  const times = await stat(lock).catch(() => undefined);
  return times && `${times.ino} ${times.mtimeMs}`;
}

/** Looks whether a lock is touched. */
async function isTouched(lock: string, watchMs: number): Promise<boolean> {
  const before = await touchOf(lock);
  const until = Date.now() + watchMs;
  while (Date.now() < until) {
    await delay(watchMs / 10);
    const now = await touchOf(lock);
    if (now !== before) return now !== undefined;
  }
  return false;
}

async function isHeld(lock: string, text: string, watchMs: number): Promise<boolean> {
  const holder = holderOf(text);
  if (holder?.name === nameIn(lock)) return true;
  // One that says nothing has just been made, or its maker was killed before it was written.
  if (holder?.scope === (await scopeHere())) return await isAlive(holder);
  return await isTouched(lock, watchMs);
}

/** The lock is ours; what is given gives it back. */
function hold(lock: string): () => Promise<void> {
  const timer = setInterval(() => {
    const now = new Date();
    // A folder that has become read-only still keeps the lock from those who see us.
    utimes(lock, now, now).catch(() => undefined);
  }, TOUCH_MS).unref();
  return async () => {
    clearInterval(timer);
    await rm(lock, { force: true });
  };
}

/** Takes the lock at a path; one whose holder died without giving it back doesn't count. Throws `WalletRefusal`. */
export async function takeLock(lock: string, watchMs = WATCH_MS): Promise<() => Promise<void>> {
  for (let attempt = 0; attempt < 2; attempt++) {
    try {
      const file = await open(lock, "wx", 0o600);
      const holder = `${process.pid} ${await startOf(process.pid)} ${await scopeHere()} ${nameIn(lock)}`;
      await file.writeFile(holder).finally(() => file.close());
      return hold(lock);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EEXIST") refuseUnwritten(error);
      const text = await read(lock);
      if (await isHeld(lock, text, watchMs)) break;
      // Somebody else may have found the same meanwhile, and be its holder now.
      if ((await read(lock)) === text) await rm(lock, { force: true });
    }
  }
  throw failedToOpen("another service has it open");
}
