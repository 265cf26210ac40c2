import { createHash } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setImmediate, setTimeout } from "node:timers/promises";
import { createMemoryEngine, type Engine, openLmdbEngine } from "@anulo/store";
import {
  type Clock,
  type EventLog,
  type EventLogOptions,
  type LoggedEvent,
  openEventLog,
} from "../src/index.ts";

export const key = new Uint8Array(32).fill(7);
/** 2023-11-14 22:13:20. */
export const START_MS = 1_700_000_000_000;

/** A clock whose time passes only when it is told, or at once when nothing else is left to do. */
export class TestClock implements Clock {
  #now = START_MS;
  readonly #waiting = new Set<{ readonly at: number; wake(): void }>();

  now(): number {
    return this.#now;
  }

  async delay(ms: number, signal?: AbortSignal): Promise<void> {
    if (signal?.aborted) return;
    await new Promise<void>((resolve) => {
      const waiting = {
        at: this.#now + ms,
        wake: () => {
          this.#waiting.delete(waiting);
          signal?.removeEventListener("abort", waiting.wake);
          resolve();
        },
      };
      signal?.addEventListener("abort", waiting.wake);
      this.#waiting.add(waiting);
    });
  }

  /** Lets so much time pass, waking those who wait in order, each with some turns of the event loop. */
  async pass(ms: number): Promise<void> {
    const end = this.#now + ms;
    for (;;) {
      await turns();
      const [first] = [...this.#waiting].sort((a, b) => a.at - b.at);
      if (first === undefined || first.at > end) break;
      this.#now = Math.max(this.#now, first.at);
      first.wake();
    }
    this.#now = end;
    await turns();
  }
}

const TURNS = 20;

async function turns(): Promise<void> {
  for (let turn = 0; turn < TURNS; turn++) await setImmediate();
}

/** Resolves once this holds, however long that takes on a busy machine. */
export async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await holds())) await setTimeout(5);
}

export interface Place {
  /** Opens the engine, as another process would; for the memory engine the one there is. */
  engine(): Promise<Engine>;
  readonly folder: string;
  /** Logs that were opened there. */
  readonly logs: Promise<EventLog>[];
  /** Aborts when the place is stopped. */
  readonly over: AbortSignal;
  /** Closes what a failed test left open too, which would keep the process running. */
  stop(): Promise<void>;
}

/** Closes the logs of a place that are still open. */
async function closeLogs(logs: readonly Promise<EventLog>[]): Promise<void> {
  for (const opened of await Promise.allSettled(logs)) {
    if (opened.status === "fulfilled" && !opened.value.ended.aborted) await opened.value.close();
  }
}

export type MakePlace = () => Place;

export const memoryPlace: MakePlace = () => {
  const folder = mkdtempSync(join(tmpdir(), "anulo-events-"));
  const engine = createMemoryEngine();
  const logs: Promise<EventLog>[] = [];
  const ending = new AbortController();
  return {
    engine: async () => engine,
    folder,
    logs,
    over: ending.signal,
    async stop() {
      ending.abort();
      await closeLogs(logs);
      rmSync(folder, { recursive: true, force: true });
    },
  };
};

/** An engine whose changes are in `changes` while they are under way. */
function withChanges(engine: Engine, changes: Set<Promise<unknown>>): Engine {
  const counted = <T>(change: Promise<T>): Promise<T> => {
    changes.add(change);
    const over = () => void changes.delete(change);
    change.then(over, over);
    return change;
  };
  return {
    ...engine,
    fence: (wallet, above) => counted(engine.fence(wallet, above)),
    apply: (wallet, change) => counted(engine.apply(wallet, change)),
  };
}

export const lmdbPlace: MakePlace = () => {
  const folder = mkdtempSync(join(tmpdir(), "anulo-events-"));
  const opened: Engine[] = [];
  const changes = new Set<Promise<unknown>>();
  const logs: Promise<EventLog>[] = [];
  const ending = new AbortController();
  return {
    logs,
    over: ending.signal,
    async engine() {
      // Opening the file blocks this thread until nobody writes it, and who writes it in this process may need this thread.
      while (changes.size > 0) await Promise.allSettled(changes);
      const engine = withChanges(openLmdbEngine(join(folder, "engine", "events.mdb")), changes);
      opened.push(engine);
      return engine;
    },
    folder: join(folder, "beside"),
    async stop() {
      ending.abort();
      await closeLogs(logs);
      for (const engine of opened) await engine.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
};

/** The lease of the log among the wallets of its engine. */
export const leaseWallet = createHash("sha256").update("anulo event log: lease").digest().subarray(0, 16);

/** Clock of a process that waits for the lease: no time passes before the holder has written its row again. */
export async function clockBehindHolder(place: Place): Promise<Clock> {
  const engine = await place.engine();
  const written = async () => JSON.stringify(await engine.markOf(leaseWallet));
  return {
    now: () => START_MS,
    async delay() {
      const before = await written();
      // Also a wait that is over at once lets others go on.
      do await setTimeout(5);
      while (!place.over.aborted && (await written()) === before);
    },
  };
}

export async function openLog(place: Place, options: Partial<EventLogOptions> = {}): Promise<EventLog> {
  const { engine = await place.engine(), ...others } = options;
  const opening = openEventLog({ engine, folder: place.folder, key, leaseMs: 400, ...others });
  place.logs.push(opening);
  return await opening;
}

export const source = (number: number): Uint8Array => {
  const bytes = Buffer.alloc(16);
  bytes.writeUInt32BE(number);
  return bytes;
};

/** Adds events of one wallet, each with a change of its own. */
export async function addEvents(log: EventLog, count: number, wallet = "alice"): Promise<void> {
  const first = ((await log.cursorOf(source(wallet.length))) ?? 0) + 1;
  const appended = Array.from({ length: count }, (_, i) =>
    log.append({
      source: source(wallet.length),
      wallet,
      change: first + i,
      events: [{ type: "received", change: first + i, amount: 2n ** 60n }],
    }),
  );
  await Promise.all(appended);
}

/** All events after a sequence number, however many reads it takes. */
export async function allEvents(log: EventLog, after = 0): Promise<LoggedEvent[]> {
  const found: LoggedEvent[] = [];
  for (let next = after; next < log.last; ) {
    const page = await log.read({ after: next, limit: 1_000 });
    for (const event of page.events) found.push(event);
    next = page.next;
  }
  return found;
}
