import type { Worker } from "node:worker_threads";
import type { MessageOfThread, MessageToThread, TaskResult, ThreadTask } from "./messages.ts";

export interface AnswerThreadOptions {
  readonly startWorker: () => Worker;
  /** Called when the thread has ended or is about to end. */
  readonly onGone: (thread: AnswerThread) => void;
  /** Called with the error of a thread that has ended by itself. */
  readonly onError: (error: unknown) => void;
  /** Milliseconds without a task after which it ends. */
  readonly idleMs: number;
  /** Milliseconds since an arbitrary start; never decreases. */
  readonly now: () => number;
}

interface PendingTask {
  readonly costMs: number;
  /** When it was sent, by the clock of the options. */
  readonly since: number;
  readonly isOfStranger: boolean;
  resolve(result: TaskResult): void;
}

/** After so many milliseconds a task, with those before it, has taken longer than what is given to a thread ahead. */
const OVERDUE_MS = 100;

/** A worker thread that answers requests; it keeps the process alive only while it has some. */
export class AnswerThread {
  readonly #options: AnswerThreadOptions;
  readonly #worker: Worker;
  /** Resolves once it has ended. */
  readonly ended: Promise<void>;
  readonly #pending = new Map<number, PendingTask>();
  #nextId = 0;
  #isReady = false;
  #isGone = false;
  #idle: NodeJS.Timeout | undefined;

  /** Starts it. */
  constructor(options: AnswerThreadOptions) {
    this.#options = options;
    this.#worker = options.startWorker();
    this.#worker.on("message", (message: MessageOfThread) => this.#receive(message));
    this.#worker.on("error", options.onError);
    this.ended = new Promise((resolve) => {
      this.#worker.once("exit", () => {
        this.#end();
        resolve();
      });
    });
  }

  /** Whether it has loaded. */
  get isReady(): boolean {
    return this.#isReady;
  }

  /** Estimated milliseconds of the tasks without a result. */
  get pendingMs(): number {
    let sum = 0;
    for (const { costMs } of this.#pending.values()) sum += costMs;
    return sum;
  }

  /** Whether a task would wait: behind one that takes longer than expected or, if it is the owner's, behind a stranger's. */
  holdsUp({ restricted }: Pick<ThreadTask, "restricted">): boolean {
    const tasks = [...this.#pending.values()];
    const isOverdue = tasks.length > 0 && this.#options.now() - tasks[0]!.since > OVERDUE_MS;
    return isOverdue || (!restricted && tasks.some(({ isOfStranger }) => isOfStranger));
  }

  /** Resolves with the result of a task of about `costMs`, which has no response if the thread ends before. */
  run(task: Omit<ThreadTask, "id">, costMs: number, signal: AbortSignal): Promise<TaskResult> {
    const id = this.#nextId++;
    // It may have ended since it was chosen, if its request had to wait for memory.
    if (this.#isGone) return Promise.resolve(noResponse(id));
    clearTimeout(this.#idle);
    this.#worker.ref();
    const onLeft = () => this.#post({ abandon: id });
    signal.addEventListener("abort", onLeft);
    this.#post({ ...task, id });
    return new Promise((resolve) => {
      this.#pending.set(id, {
        costMs,
        since: this.#options.now(),
        isOfStranger: task.restricted,
        resolve(result) {
          signal.removeEventListener("abort", onLeft);
          resolve(result);
        },
      });
    });
  }

  /** Resolves once the thread has ended; its tasks get no response. */
  stop(): Promise<void> {
    if (!this.#isGone) {
      this.#leave();
      this.#worker.ref();
      this.#post("end");
    }
    return this.ended;
  }

  #post(message: MessageToThread): void {
    this.#worker.postMessage(message);
  }

  #receive(message: MessageOfThread): void {
    if (message === "ready") this.#isReady = true;
    else this.#settle(message);
    // The process waits for the end of a thread that it has told to end.
    if (this.#isGone || this.#pending.size > 0) return;
    this.#worker.unref();
    clearTimeout(this.#idle);
    this.#idle = setTimeout(() => void this.stop(), this.#options.idleMs).unref();
  }

  #settle(result: TaskResult): void {
    const task = this.#pending.get(result.id);
    if (task === undefined) return;
    this.#pending.delete(result.id);
    task.resolve(result);
  }

  #leave(): void {
    clearTimeout(this.#idle);
    if (this.#isGone) return;
    this.#isGone = true;
    this.#options.onGone(this);
  }

  #end(): void {
    this.#leave();
    for (const id of this.#pending.keys()) this.#settle(noResponse(id));
  }
}

const noResponse = (id: number): TaskResult => ({ id, milliseconds: 0, response: undefined });
