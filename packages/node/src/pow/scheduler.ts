import { createDatasets, type DatasetMakers } from "./datasets.ts";
import type { Engine, PowAnswer, PowQuestion, ThreadMessage, ThreadResult } from "./messages.ts";
import type { Use } from "./seeds.ts";
import { createWorkList, type Errand } from "./work-list.ts";

/** A thread that does one task at a time. */
export interface HashThread {
  tell(message: ThreadMessage): void;
}

/** What a thread tells: the result of each task, and once, if it happens, that it is lost. */
export interface ThreadOwner {
  onResult(result: ThreadResult): void;
  onLost(reason: string): void;
}

export interface SchedulerOptions {
  /** Threads at work when nobody searches; a search may ask for more. */
  readonly threads: number;
  /** Who computes RandomX, if that is known. */
  readonly engine: Engine | undefined;
  /** How datasets are made. */
  readonly datasets: DatasetMakers;
  readonly hire: (owner: ThreadOwner) => HashThread;
  readonly answer: (answer: PowAnswer) => void;
  /** Milliseconds, from any point on. */
  readonly now: () => number;
}

/** Has questions answered by threads. */
export interface Scheduler {
  ask(question: PowQuestion): void;
}

interface Hand {
  /** Hired when there is something to do. */
  thread: HashThread | undefined;
  /** Names of the caches and datasets this thread was given. */
  readonly sources: Set<string>;
  errand: (Errand & { readonly since: number }) | undefined;
}

/** Starts without threads; they are hired as work comes. */
export function createScheduler({ hire, answer, now, ...options }: SchedulerOptions): Scheduler {
  const hands: Hand[] = [];
  const datasets = createDatasets({
    makers: options.datasets,
    report: answer,
    onLetGo: (name) => drop(name),
    now,
  });
  const list = createWorkList({ ...options, datasets, now });
  const finish = (hand: Hand, result: ThreadResult) => {
    const { errand } = hand;
    hand.errand = undefined;
    errand?.use?.end();
    for (const each of errand?.settle(result, now() - errand.since) ?? []) answer(each);
    assign();
  };
  const employ = (hand: Hand): HashThread =>
    hire({
      onResult: (result) => finish(hand, result),
      onLost(reason) {
        hand.thread = undefined;
        hand.sources.clear();
        finish(hand, { type: "failed", reason });
      },
    });
  const drop = (name: string) => {
    for (const { thread, sources } of hands) if (sources.delete(name)) thread?.tell({ type: "drop", name });
  };
  const give = ({ sources }: Hand, thread: HashThread, { name, source, begin }: Use) => {
    begin();
    if (sources.has(name)) return;
    sources.add(name);
    thread.tell({ type: "take", name, source });
  };
  const start = (hand: Hand, errand: Errand) => {
    if (errand.dropped !== undefined) drop(errand.dropped);
    hand.errand = { ...errand, since: now() };
    hand.thread ??= employ(hand);
    if (errand.use !== undefined) give(hand, hand.thread, errand.use);
    hand.thread.tell(errand.task);
  };
  const idleHand = (): Hand | undefined => {
    const idle = hands.find(({ errand }) => errand === undefined);
    if (idle !== undefined || hands.length >= list.threadsWanted()) return idle;
    const hand: Hand = { thread: undefined, sources: new Set(), errand: undefined };
    hands.push(hand);
    return hand;
  };
  let alarm: NodeJS.Timeout | undefined;
  const assign = () => {
    clearTimeout(alarm);
    for (let hand = idleHand(); hand !== undefined; hand = idleHand()) {
      const errand = list.next();
      if (errand === undefined) return wakeLater();
      start(hand, errand);
    }
  };
  const wakeLater = () => {
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
