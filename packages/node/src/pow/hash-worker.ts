import { Worker } from "node:worker_threads";
import type { ThreadResult } from "./messages.ts";
import type { ProcessSettings } from "./process-settings.ts";
import type { HashThread, ThreadOwner } from "./scheduler.ts";

/** The data that a hashing thread gets when it starts. */
export interface ThreadData {
  readonly settings: ProcessSettings;
  /** Whether its process only hashes, and may be configured for it. */
  readonly isProcessForHashing: boolean;
}

/** A separate thread that hashes. */
export interface HashWorker extends HashThread {
  /** Sets whether the process must not end meanwhile. */
  hold(isHeld: boolean): void;
  /** Resolves when it has finished its task, released its sources, and ended. */
  end(): Promise<void>;
}

/** Starts a hashing thread. */
export function startHashWorker(data: ThreadData, owner: ThreadOwner): HashWorker {
  const worker = new Worker(new URL("./pow-thread.js", import.meta.url), { workerData: data });
  let isLost = false;
  const fail = (reason: string) => {
    if (!isLost) owner.onLost(reason);
    isLost = true;
  };
  const ended = new Promise<void>((resolve) => {
    worker.on("exit", () => resolve());
  });
  worker.on("message", (result: ThreadResult) => owner.onResult(result));
  worker.on("error", (error) => fail(String(error)));
  worker.on("exit", () => fail("a hashing thread ended"));
  return {
    send: (message) => worker.postMessage(message),
    hold: (isHeld) => (isHeld ? worker.ref() : worker.unref()),
    async end() {
      worker.ref();
      worker.postMessage({ type: "leave" });
      await ended;
    },
  };
}
