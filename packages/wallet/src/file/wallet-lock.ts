/**
 * Prevents a second service from writing the files of a wallet: a lock file contains its holder. If processes can see
 * each other, we query the system whether the holder is alive. Otherwise (another container, another machine with the
 * same folder) the holder shows that it is alive by touching a file: the lock, or one for all its locks in the folder.
 */
import { createHash, randomUUID } from "node:crypto";
import { type FileHandle, open, readFile, readlink, rm, stat } from "node:fs/promises";
import { hostname } from "node:os";
import { setTimeout as delay } from "node:timers/promises";
import { WalletRefusal } from "../refusal.ts";
import { type Heartbeats, heartbeatBeside, touchUntilOver } from "./heartbeat.ts";
import { refuseUnwritten } from "./unwritten.ts";
import type { KeysFence, WalletPaths } from "./wallet-files.ts";

/** The locks of the wallets in a folder. */
export interface WalletLocks {
  /** Takes a wallet's lock and returns a function that releases it. Throws `WalletRefusal`. */
  take(paths: WalletPaths): Promise<() => Promise<void>>;
  /** Throws `WalletRefusal` if a lock that was taken may be another service's by now. */
  confirm(paths: WalletPaths): Promise<void>;
  /** How the keys file of a wallet whose lock was taken is replaced; undefined if nothing else has to be done. */
  fenceOf(paths: WalletPaths): KeysFence | undefined;
}

/** The locks of an open wallet. */
export class HeldLocks {
  readonly #own: () => Promise<void>;
  readonly #others: () => Promise<void>;
  #isHandedOn = false;

  /** `own` releases the wallet's lock, `others` those of its files beside it. */
  constructor(own: () => Promise<void>, others: () => Promise<void> = async () => undefined) {
    let released: Promise<void> | undefined;
    this.#own = () => {
      released ??= own();
      return released;
    };
    this.#others = others;
  }

  /** The wallet's lock, which from here on is released by `HeldLocks` returned here, and not by this. */
  handOn(): HeldLocks {
    this.#isHandedOn = true;
    return new HeldLocks(this.#own);
  }

  /** Undoes `handOn`. */
  takeBack(): void {
    this.#isHandedOn = false;
  }

  async release(): Promise<void> {
    await this.#others();
    if (!this.#isHandedOn) await this.#own();
  }
}

/** One lock file per wallet, valid as long as its holder lives. */
export class FileLocks implements WalletLocks {
  readonly #options: LockOptions;

  constructor(options: LockOptions = {}) {
    this.#options = options;
  }

  take({ lock }: WalletPaths): Promise<() => Promise<void>> {
    return takeLock(lock, this.#options);
  }

  async confirm(): Promise<void> {}

  fenceOf(): undefined {}
}

/**
 * A lock that is not touched for this long (milliseconds) counts as abandoned, if its holder's process cannot be seen.
 */
const WATCH_MS = 3500;

/** Distinguishes this process, which may run several services, from an earlier one with the same process id. */
const THIS_PROCESS = randomUUID();

/**
 * The id of this process in a lock; it depends on the path, so that it means nothing in a copy of the file elsewhere.
 */
function nameIn(lock: string): string {
  return createHash("sha256").update(THIS_PROCESS).update(lock).digest("hex");
}

/**
 * The holder of a lock: a process id, its start time, the scope in which the process id is valid, its own id, and the
 * file beside the lock that it touches instead of the lock, if there is one.
 */
type Holder = {
  readonly pid: number;
  readonly start: string;
  readonly scope: string;
  readonly name: string | undefined;
  readonly heartbeat: string | undefined;
};

/** When a process started, if the system reports it: its process id may be reused later. */
async function startOf(pid: number): Promise<string> {
  const text = await readFile(`/proc/${pid}/stat`, "latin1").catch(() => "");
  // The fields after the name, which may contain any character. Source: proc_pid_stat(5), starttime.
  return text.slice(text.lastIndexOf(")") + 2).split(" ")[19] ?? "";
}

/** Processes of one scope see each other. Source: proc_sys_kernel(5), boot_id; pid_namespaces(7). */
async function scopeHere(): Promise<string> {
  const boot = await readFile("/proc/sys/kernel/random/boot_id", "latin1").catch(() => hostname());
  const namespace = await readlink("/proc/self/ns/pid").catch(() => "");
  return `${boot.trim()}/${namespace}`;
}

/** Returns what was read of a file, or `missing` if there is none. Throws `WalletRefusal` if the system does not tell. */
async function unlessMissing<T>(reading: Promise<T>, missing: T): Promise<T> {
  return await reading.catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return missing;
    // Who can't read a lock must not take it for abandoned: its holder may be of another user.
    throw new WalletRefusal("UNKNOWN_ERROR", `Failed to open wallet : its lock can't be read: ${error.code}`);
  });
}

async function read(lock: string): Promise<string> {
  return await unlessMissing(readFile(lock, "utf8"), "");
}

function holderOf(text: string): Holder | undefined {
  const [number, start = "", scope = "", name, heartbeat] = text.split(" ");
  const pid = Number(number);
  if (!Number.isSafeInteger(pid) || pid <= 0 || scope === "") return undefined;
  return { pid, start, scope, name, heartbeat };
}

async function isAlive({ pid, start }: Holder): Promise<boolean> {
  if (pid === process.pid) return false;
  let isForeign = false;
  try {
    process.kill(pid, 0);
  } catch (error) {
    isForeign = (error as NodeJS.ErrnoException).code === "EPERM";
    if (!isForeign) return false;
  }
  const startTime = await startOf(pid);
  // The system may hide from us when a process of another user has started. Source: proc(5), hidepid.
  return start === "" || startTime === start || (isForeign && startTime === "");
}

/** A value that changes with every touch; undefined once the file is deleted. */
async function touchOf(path: string): Promise<string | undefined> {
  const times = await unlessMissing(stat(path), undefined);
  return times && `${times.ino} ${times.mtimeMs}`;
}

/** Watches whether a file is touched. */
async function isTouched(path: string, watchMs: number): Promise<boolean> {
  const before = await touchOf(path);
  const until = performance.now() + watchMs;
  while (performance.now() < until) {
    await delay(watchMs / 10);
    const now = await touchOf(path);
    if (now !== before) return now !== undefined;
  }
  return false;
}

async function isHeld(lock: string, text: string, watchMs: number): Promise<boolean> {
  const holder = holderOf(text);
  if (holder?.name === nameIn(lock)) return true;
  // An empty lock was just created, or its creator was killed before writing it.
  if (holder?.scope === (await scopeHere())) return await isAlive(holder);
  return await isTouched(heartbeatBeside(lock, holder?.heartbeat) ?? lock, watchMs);
}

/** Writes the holder to a lock that was created; returns a function that releases it. */
async function hold(lock: string, file: FileHandle, heartbeats?: Heartbeats): Promise<() => Promise<void>> {
  const end = new AbortController();
  let heartbeat: string | undefined;
  const release = async () => {
    end.abort();
    await rm(lock, { force: true });
    if (heartbeat !== undefined) await heartbeats?.leave(lock);
  };
  try {
    const holder = `${process.pid} ${await startOf(process.pid)} ${await scopeHere()} ${nameIn(lock)}`;
    heartbeat = await heartbeats?.join(lock);
    await file.writeFile(heartbeat === undefined ? holder : `${holder} ${heartbeat}`);
    if (heartbeat === undefined) void touchUntilOver(lock, end.signal);
    return release;
  } catch (error) {
    await release();
    throw error;
  } finally {
    await file.close();
  }
}

/** Removes a lock whose holder is gone, and the file that it touched if it is seen to have ended. */
async function removeStale(lock: string, text: string): Promise<void> {
  const holder = holderOf(text);
  const heartbeat = heartbeatBeside(lock, holder?.heartbeat);
  await rm(lock, { force: true });
  // One that can't be seen may only have rested, and touches it for its other locks.
  if (heartbeat !== undefined && holder?.scope === (await scopeHere())) await rm(heartbeat, { force: true });
}

export type LockOptions = {
  /** Milliseconds for which a holder that can't be seen is watched. */
  readonly watchMs?: number;
  /** If left out, the lock itself is touched. */
  readonly heartbeats?: Heartbeats;
};

/** Another service has the lock. */
export class HeldLock extends WalletRefusal {
  constructor() {
    super("UNKNOWN_ERROR", "Failed to open wallet : another service has it open");
  }
}

/** Whether a lock's holder is alive and this process can't see it. */
export async function isHeldElsewhere(lock: string, watchMs = WATCH_MS): Promise<boolean> {
  const text = await read(lock);
  const holder = holderOf(text);
  return holder !== undefined && holder.scope !== (await scopeHere()) && (await isHeld(lock, text, watchMs));
}

/** Whether this process holds a lock. */
export async function isHeldHere(lock: string): Promise<boolean> {
  return holderOf(await read(lock))?.name === nameIn(lock);
}

/**
 * Takes the lock at a path; a lock whose holder died without releasing it doesn't count. Throws `HeldLock`, or another
 * `WalletRefusal` if it can't be written.
 */
export async function takeLock(lock: string, options: LockOptions = {}): Promise<() => Promise<void>> {
  for (let attempt = 0; attempt < 2; attempt++) {
    try {
      return await hold(lock, await open(lock, "wx", 0o600), options.heartbeats);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EEXIST") refuseUnwritten(error);
      const text = await read(lock);
      if (await isHeld(lock, text, options.watchMs ?? WATCH_MS)) break;
      // Another process may have found the same meanwhile, and be the holder now.
      if ((await read(lock)) === text) await removeStale(lock, text);
    }
  }
  throw new HeldLock();
}
