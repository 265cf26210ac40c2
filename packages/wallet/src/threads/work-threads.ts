/** The threads for work that would block the event loop. */
import { availableParallelism } from "node:os";
import { Worker } from "node:worker_threads";
import { giveBackMemory } from "@anulo/crypto";
import { errorOf } from "./failures.ts";
import type { JobInput, JobName, JobOutput } from "./jobs.ts";
import type { WorkAnswer, WorkOrder } from "./serve-jobs.ts";
import { startHere, type Thread } from "./start-thread.ts";

type Waiting = {
  readonly order: WorkOrder;
  /** Buffers of the input that are transferred rather than copied. */
  readonly transfer: readonly ArrayBuffer[];
  readonly resolve: (output: never) => void;
  readonly reject: (error: unknown) => void;
};

/** Number of list items in one job: some 10 to 20 ms, so that a short job need not wait long behind a long list. */
const ITEMS_PER_JOB = 64;

/** Lists for each thread, one in work and one that waits. */
const LISTS_A_THREAD = 2;

/** Jobs whose input is a list that can be split. */
type ListJob = {
  [K in JobName]: JobInput<K> extends { readonly items: readonly unknown[]; readonly common: object }
    ? K
    : never;
}[JobName];
type ItemOf<K extends ListJob> = JobInput<K>["items"][number];
type ResultOf<K extends ListJob> = JobOutput<K> extends readonly (infer R)[] ? R : never;

/** Milliseconds without a job after which all threads but one end: a thread costs 20 MiB, starting one 100 ms. */
const IDLE_MS = 30_000;

/**
 * Threads are started when first needed: each takes the next job when it has finished one, and retains no data of it.
 */
export class WorkThreads {
  /** Maximum number of threads; 0: jobs run in the caller's thread, one after the other. */
  most = availableParallelism();
  #lastId = 0;
  readonly #queue: Waiting[] = [];
  /** Jobs with the lowest priority, for which no caller waits. */
  readonly #lastQueue: Waiting[] = [];
  /** Idle threads; the one that became idle last is at the end, and is used first. */
  readonly #idle: Thread[] = [];
  readonly #idleMs: number;
  readonly #instances = new Map<unknown, unknown>();
  #rest: NodeJS.Timeout | undefined;
  readonly #busy = new Map<Thread, Waiting>();
  #isClosed = false;

  constructor(idleMs: number = IDLE_MS) {
    this.#idleMs = idleMs;
  }

  /** The cache of job results of this class, one instance for as long as the threads are used. */
  instanceOf<T>(Kept: new (threads: WorkThreads) => T): T {
    const instance = (this.#instances.get(Kept) as T | undefined) ?? new Kept(this);
    this.#instances.set(Kept, instance);
    return instance;
  }

  /** Number of jobs that can run at once. */
  get #places(): number {
    return Math.max(1, this.most);
  }

  /** Number of threads. */
  get count(): number {
    return this.#idle.length + this.#busy.size;
  }

  /** Number of jobs that wait for a thread. */
  get waiting(): number {
    return this.#queue.length + this.#lastQueue.length;
  }

  /** Runs a job with a copy of its input; rejects with the error that it threw. */
  run<K extends JobName>(name: K, input: JobInput<K>): Promise<JobOutput<K>> {
    return new Promise((resolve, reject) => {
      this.#queue.push({ order: { id: ++this.#lastId, name, input }, transfer: [], resolve, reject });
      this.#hand();
    });
  }

  /** As `run`, once no other job waits for a thread; the buffers in `transfer` are transferred. */
  runLast<K extends JobName>(
    name: K,
    input: JobInput<K>,
    transfer: readonly ArrayBuffer[],
  ): Promise<JobOutput<K>> {
    return new Promise((resolve, reject) => {
      this.#lastQueue.push({ order: { id: ++this.#lastId, name, input }, transfer, resolve, reject });
      this.#hand();
    });
  }

  /** Splits a list over as many threads as there are; resolves with the result of each part, in order. */
  share<K extends ListJob>(
    name: K,
    items: readonly ItemOf<K>[],
    common: JobInput<K>["common"],
  ): Promise<JobOutput<K>>[] {
    const size = Math.max(1, Math.min(ITEMS_PER_JOB, Math.ceil(items.length / this.#places)));
    const shares: Promise<JobOutput<K>>[] = [];
    for (let at = 0; at < items.length; at += size) {
      const input = { items: items.slice(at, at + size), common } as unknown as JobInput<K>;
      shares.push(this.run(name, input));
    }
    return shares;
  }

  /** Applies a job to every item, in as many threads as there are; resolves with the results in order. */
  async map<K extends ListJob>(
    name: K,
    items: readonly ItemOf<K>[],
    common: JobInput<K>["common"],
  ): Promise<ResultOf<K>[]> {
    return (await Promise.all(this.share(name, items, common))).flat() as ResultOf<K>[];
  }

  /**
   * Applies a job to every item of some lists, each short enough for one job; yields the results of one after the other.
   * A list is taken when few others wait, so that items may be made as they are needed.
   */
  async *mapLists<K extends ListJob>(
    name: K,
    lists: Iterable<readonly ItemOf<K>[]>,
    common: JobInput<K>["common"],
  ): AsyncGenerator<JobOutput<K>, void> {
    const running: Promise<JobOutput<K>>[] = [];
    for (const items of lists) {
      const job = this.run(name, { items, common } as unknown as JobInput<K>);
      // If it fails while an earlier one is awaited, that is told where its own turn comes.
      void job.catch(() => undefined);
      running.push(job);
      if (running.length >= LISTS_A_THREAD * this.#places) yield await running.shift()!;
    }
    for (const job of running) yield await job;
  }

  /** Ends the threads, once they have finished their jobs. */
  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#rest);
    await Promise.all(this.#idle.splice(0).map((worker) => worker.terminate()));
  }

  #hand(): void {
    for (;;) {
      const queue = this.#queue.length > 0 ? this.#queue : this.#lastQueue;
      if (queue.length === 0) return;
      const worker = this.#idle.pop() ?? (this.#busy.size < this.#places ? this.#start() : undefined);
      if (worker === undefined) return;
      const waiting = queue.shift()!;
      this.#busy.set(worker, waiting);
      worker.ref();
      worker.postMessage(waiting.order, waiting.transfer);
    }
  }

  #start(): Thread {
    const worker =
      this.most === 0
        ? startHere(async () => (await import("./serve-jobs.ts")).serveJobs)
        : new Worker(new URL("./work-worker.js", import.meta.url));
    worker.on("message", (answer: WorkAnswer) => {
      const waiting = this.#busy.get(worker);
      this.#busy.delete(worker);
      this.#idle.push(worker);
      worker.unref();
      if ("output" in answer) waiting?.resolve(answer.output as never);
      else waiting?.reject(errorOf(answer.failure));
      this.#hand();
      if (this.#isClosed) void this.close();
      else this.#letRest();
    });
    worker.on("error", (error) => this.#lose(worker, error));
    worker.on("exit", () => this.#lose(worker, new Error("a working thread ended")));
    return worker;
  }

  /** Ends all threads but one once there has been no job for a while. */
  #letRest(): void {
    clearTimeout(this.#rest);
    if (this.#busy.size > 0 || this.#idle.length <= 1) return;
    this.#rest = setTimeout(() => {
      if (this.#busy.size > 0) return;
      const ended = this.#idle.splice(0, this.#idle.length - 1).map((worker) => worker.terminate());
      void Promise.all(ended).then(giveBackMemory);
    }, this.#idleMs).unref();
  }

  /** When a thread dies, only its current job fails. */
  #lose(worker: Thread, error: Error): void {
    this.#busy.get(worker)?.reject(error);
    this.#busy.delete(worker);
    const at = this.#idle.indexOf(worker);
    if (at >= 0) this.#idle.splice(at, 1);
    this.#hand();
  }
}
