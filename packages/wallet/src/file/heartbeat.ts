/** How a process shows others, which cannot see it, that it is alive: a file in a folder that it touches. */
import { randomBytes } from "node:crypto";
import { open, rm, utimes } from "node:fs/promises";
import { dirname, join } from "node:path";
import { setInterval } from "node:timers/promises";

/** Milliseconds between two touches. */
const TOUCH_MS = 1000;
const NAME = /^\.anulo-[0-9a-f]{16}$/;

/** Calls `touch` with a path every second until the signal is aborted. */
export async function touchUntilOver(path: string, signal: AbortSignal, touch = touchFile): Promise<void> {
  try {
    for await (const _ of setInterval(TOUCH_MS, undefined, { ref: false, signal })) {
      // If the folder has become read-only, locks still work for processes that can see this one.
      await touch(path).catch(() => undefined);
    }
  } catch {
    // The signal was aborted.
  }
}

async function touchFile(path: string): Promise<void> {
  const now = new Date();
  await utimes(path, now, now);
}

/** Creates the file if somebody has deleted it. */
async function touchOrCreate(path: string): Promise<void> {
  const file = await open(path, "a", 0o600);
  const now = new Date();
  await file.utimes(now, now).finally(() => file.close());
}

/** The path of a heartbeat beside a lock; undefined unless the name, which a lock contains, is one. */
export function heartbeatBeside(lock: string, name: string | undefined): string | undefined {
  return name !== undefined && NAME.test(name) ? join(dirname(lock), name) : undefined;
}

/** The heartbeat in one folder. */
type Beat = {
  readonly name: string;
  readonly end: AbortController;
  readonly made: Promise<void>;
  /** Resolves once the file is touched no more. */
  over: Promise<void>;
  users: number;
};

/** The heartbeats of a service: one in each folder where it holds locks, however many these are. */
export class Heartbeats {
  readonly #beats = new Map<string, Beat>();

  /** Resolves with the name of the heartbeat beside this lock, until `leave`. Throws errors of the file system. */
  async join(lock: string): Promise<string> {
    const folder = dirname(lock);
    const beat = this.#beats.get(folder) ?? this.#begin(folder);
    beat.users += 1;
    try {
      await beat.made;
    } catch (error) {
      await this.leave(lock);
      throw error;
    }
    return beat.name;
  }

  #begin(folder: string): Beat {
    const name = `.anulo-${randomBytes(8).toString("hex")}`;
    const [path, end] = [join(folder, name), new AbortController()];
    const made = open(path, "wx", 0o600).then((file) => file.close());
    const beat: Beat = { name, end, made, over: Promise.resolve(), users: 0 };
    const touchIt = () => {
      beat.over = touchUntilOver(path, end.signal, touchOrCreate);
    };
    // Who joins gets the error.
    void made.then(touchIt, () => undefined);
    this.#beats.set(folder, beat);
    return beat;
  }

  /** Removes the heartbeat with the last lock of its folder. */
  async leave(lock: string): Promise<void> {
    const folder = dirname(lock);
    const beat = this.#beats.get(folder);
    if (beat === undefined) return;
    beat.users -= 1;
    if (beat.users > 0) return;
    this.#beats.delete(folder);
    beat.end.abort();
    // A touch under way would create it again.
    await beat.over;
    await rm(join(folder, beat.name), { force: true });
  }
}
