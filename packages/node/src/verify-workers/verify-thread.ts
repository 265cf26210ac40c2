import { Worker } from "node:worker_threads";
import type { Failure, Obligation } from "@anulo/consensus";
import { giveBackMemory } from "@anulo/crypto";
import type { VerifyMessage, VerifyTask, VerifyWorkerData } from "./verify-worker.ts";

/** A worker thread that checks proofs; it keeps the process alive only while it has some to check. */
export interface VerifyThread {
  /** Whether it has loaded, and checked what it was started with. */
  readonly isReady: boolean;
  /** Estimated milliseconds of the tasks that are not answered. */
  readonly pendingCost: number;
  /**
   * Checks obligations of about this cost in milliseconds; resolves with the first that does not hold, if there is one.
   */
  run(obligations: readonly Obligation[], cost: number): Promise<Failure | undefined>;
  stop(): Promise<unknown>;
}

interface PendingTask {
  readonly cost: number;
  resolve(failure: Failure | undefined): void;
  reject(reason: Error): void;
}

export interface VerifyThreadOptions {
  /** Called when the thread has ended or is about to end. */
  readonly onGone: (thread: VerifyThread) => void;
  /** Milliseconds without a task after which it ends. */
  readonly idleMs: number;
  /** Proofs that it checks before it is ready, whatever comes of it, so that the next ones take no longer than later ones. */
  readonly firstProofs?: readonly Obligation[] | undefined;
}

/** Starts a thread; tasks sent before it is ready wait for that. */
export function startVerifyThread({ onGone, idleMs, firstProofs = [] }: VerifyThreadOptions): VerifyThread {
  const workerData: VerifyWorkerData = { firstProofs };
  const worker = new Worker(new URL("./verify-worker.js", import.meta.url), { workerData });
  const pending = new Map<number, PendingTask>();
  let nextId = 0;
  let isReady = false;
  let idle: NodeJS.Timeout | undefined;
  const thread: VerifyThread = {
    get isReady() {
      return isReady;
    },
    get pendingCost() {
      return [...pending.values()].reduce((sum, { cost }) => sum + cost, 0);
    },
    run: (obligations, cost) =>
      new Promise((resolve, reject) => {
        clearTimeout(idle);
        const task: VerifyTask = { id: nextId++, obligations };
        pending.set(task.id, { cost, resolve, reject });
        worker.ref();
        worker.postMessage(task);
      }),
    stop: () => worker.terminate(),
  };
  const endWhenIdle = () => {
    if (pending.size > 0) return;
    worker.unref();
    clearTimeout(idle);
    idle = setTimeout(() => {
      onGone(thread);
      void worker.terminate().then(giveBackMemory);
    }, idleMs).unref();
  };
  const fail = (reason: Error) => {
    clearTimeout(idle);
    onGone(thread);
    for (const task of pending.values()) task.reject(reason);
    pending.clear();
  };
  worker.on("message", (message: VerifyMessage) => {
    if (message === "ready") isReady = true;
    else resolveTask(pending, message);
    endWhenIdle();
  });
  worker.on("error", fail);
  worker.on("exit", () => fail(new Error("a verification worker ended")));
  return thread;
}

function resolveTask(
  pending: Map<number, PendingTask>,
  { id, failure, fault }: Exclude<VerifyMessage, "ready">,
): void {
  const task = pending.get(id);
  pending.delete(id);
  if (fault === undefined) task?.resolve(failure);
  else task?.reject(new Error(`a verification worker failed: ${fault}`));
}
