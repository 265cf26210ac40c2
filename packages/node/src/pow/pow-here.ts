/** Hashes RandomX with the system's library in the node's own process: one program in memory, not two. */
import { loadNativeRandomX, type NativeRandomXSource } from "@anulo/crypto";
import { type HashWorker, startHashWorker } from "./hash-worker.ts";
import { createHasher } from "./hasher.ts";
import type { SeedSource, ThreadMessage, ThreadResult } from "./messages.ts";
import type { PowChild, PowChildOptions } from "./pow-child.ts";
import type { ProcessSettings } from "./process-settings.ts";
import { createScheduler, type HashThread, type ThreadOwner } from "./scheduler.ts";

/**
 * Workers that hash in the pool of four threads that every Node program has: they cost no memory, but files and the
 * database need the pool, too. Further ones are threads with an engine of their own, 8 MiB each.
 */
const MAX_POOL_WORKERS = 2;

/** Accepts only single hashes of RandomX. Without the library it reports that, and fails them. */
export function startPowHere({ settings, onAnswer }: Omit<PowChildOptions, "onExit">): PowChild {
  const workers: HashWorker[] = [];
  const caches = createCacheList(settings);
  let isOver = false;
  const scheduler = createScheduler({
    threads: settings.threads,
    engine: settings.engine,
    datasets: { make: refuse, free: refuse },
    createThread(owner) {
      const watched = caches.watch(owner);
      const isOfPool = workers.length < MAX_POOL_WORKERS;
      const worker = isOfPool
        ? createPoolWorker(settings, watched)
        : startHashWorker({ settings, isProcessForHashing: false }, watched);
      workers.push(worker);
      return { send: (message) => void (isOver || caches.send(worker, message)) };
    },
    answer: (answer) => void (isOver || onAnswer(answer)),
    now: () => performance.now(),
  });
  const end = async () => {
    isOver = true;
    await Promise.all(workers.splice(0).map((worker) => worker.end()));
    await caches.free();
  };
  return {
    send: (question) => scheduler.ask(question),
    holdNode: (isHeld) => workers.forEach((worker) => void worker.hold(isHeld)),
    disconnect: () => void end(),
    kill: end,
  };
}

async function refuse(): Promise<never> {
  throw new Error("datasets are made in the process that hashes");
}

/** Hashes beside the event loop, in the thread pool of Node. */
function createPoolWorker(settings: ProcessSettings, { onResult }: ThreadOwner): HashWorker {
  const hasher = createHasher(settings, { isBeside: true });
  let turn: Promise<void> = Promise.resolve();
  const execute = async (message: ThreadMessage) => {
    let result: ThreadResult | undefined;
    try {
      if (message.type === "make" && message.engine !== "native") throw new Error("librandomx is missing");
      result = await hasher.execute(message);
    } catch (error) {
      result = { type: "failed", reason: error instanceof Error ? error.message : String(error) };
    }
    if (result !== undefined) onResult(result);
  };
  return {
    send(message) {
      turn = turn.then(() => execute(message));
    },
    hold() {},
    async end() {
      await turn;
      hasher.close();
    },
  };
}

/** The library's caches, which must be freed in the end, because the process continues. */
function createCacheList(settings: ProcessSettings) {
  const sources = new Map<bigint, NativeRandomXSource>();
  const forget = (source: SeedSource | undefined) => {
    if (source !== undefined && "address" in source) sources.delete(source.address);
  };
  return {
    /** Records the sources that are made, even if they are not needed any more. */
    watch: ({ onResult, onLost }: ThreadOwner): ThreadOwner => ({
      onLost,
      onResult(result) {
        if (result.type === "made" && "address" in result.source)
          sources.set(result.source.address, result.source);
        onResult(result);
      },
    }),
    /** Records the sources that are passed on. */
    send(worker: HashThread, message: ThreadMessage): void {
      if (message.type === "free") forget(message.source);
      worker.send(message);
    },
    async free(): Promise<void> {
      if (sources.size === 0) return;
      const library = await loadNativeRandomX({ isChecked: true, disabledFlags: settings.disabledFlags });
      if ("missing" in library) return;
      for (const source of sources.values()) library.release(source);
      sources.clear();
    },
  };
}
