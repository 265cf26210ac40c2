import { createDatasets, type DatasetFactory } from "./datasets.ts";
import type { Engine, PowAnswer, PowQuestion, ThreadMessage, ThreadResult } from "./messages.ts";
import type { HeldSource } from "./seeds.ts";
import { createWorkList, type ThreadJob } from "./work-list.ts";

/** A thread that does one task at a time. */
export interface HashThread {
  send(message: ThreadMessage): void;
}

/** Receives the result of each task of a thread, and once, if it happens, that the thread is lost. */
export interface ThreadOwner {
  onResult(result: ThreadResult): void;
  onLost(reason: string): void;
}

export interface SchedulerOptions {
  /** Threads in use without a search; a search may use more. */
  readonly threads: number;
  /** Which code computes RandomX, if that is known. */
  readonly engine: Engine | undefined;
  /** Makes and frees datasets. */
  readonly datasets: DatasetFactory;
  readonly createThread: (owner: ThreadOwner) => HashThread;
  readonly answer: (answer: PowAnswer) => void;
  /** Returns milliseconds since an arbitrary start. */
  readonly now: () => number;
}

/** Lets threads answer questions. */
export interface Scheduler {
  ask(question: PowQuestion): void;
}

interface WorkerSlot {
  /** Started when there is work. */
  thread: HashThread | undefined;
  /** Names of the caches and datasets that were sent to this thread. */
  readonly sources: Set<string>;
  job: (ThreadJob & { readonly since: number }) | undefined;
}

/** Creates it without threads; they are started as work arrives. */
export function createScheduler({ createThread, answer, now, ...options }: SchedulerOptions): Scheduler {
  const slots: WorkerSlot[] = [];
  const datasets = createDatasets({
    factory: options.datasets,
    report: answer,
    onReleased: (name) => drop(name),
    now,
  });
  const list = createWorkList({ ...options, datasets, now });
  const finish = (slot: WorkerSlot, result: ThreadResult) => {
    const { job } = slot;
    slot.job = undefined;
    job?.use?.end();
    for (const each of job?.complete(result, now() - job.since) ?? []) answer(each);
    assign();
  };
  const startThread = (slot: WorkerSlot): HashThread =>
    createThread({
      onResult: (result) => finish(slot, result),
      onLost(reason) {
        slot.thread = undefined;
        slot.sources.clear();
        finish(slot, { type: "failed", reason });
      },
    });
  const drop = (name: string) => {
    for (const { thread, sources } of slots) if (sources.delete(name)) thread?.send({ type: "drop", name });
  };
  const give = ({ sources }: WorkerSlot, thread: HashThread, { name, source, begin }: HeldSource) => {
    begin();
    if (sources.has(name)) return;
    sources.add(name);
    thread.send({ type: "take", name, source });
  };
  const start = (slot: WorkerSlot, job: ThreadJob) => {
    if (job.dropped !== undefined) drop(job.dropped);
    slot.job = { ...job, since: now() };
    slot.thread ??= startThread(slot);
    if (job.use !== undefined) give(slot, slot.thread, job.use);
    slot.thread.send(job.task);
  };
  const idleSlot = (): WorkerSlot | undefined => {
    const idle = slots.find(({ job }) => job === undefined);
    if (idle !== undefined || slots.length >= list.threadsWanted()) return idle;
    const slot: WorkerSlot = { thread: undefined, sources: new Set(), job: undefined };
    slots.push(slot);
    return slot;
  };
  let alarm: NodeJS.Timeout | undefined;
  const assign = () => {
    clearTimeout(alarm);
    for (let slot = idleSlot(); slot !== undefined; slot = idleSlot()) {
      const job = list.next();
      if (job === undefined) return scheduleWake();
      start(slot, job);
    }
  };
  const scheduleWake = () => {
    const ms = list.restLeft();
    if (ms !== undefined) alarm = setTimeout(assign, ms).unref();
  };
  return {
    ask(question) {
      list.add(question);
      assign();
    },
  };
}
