import { toHex } from "@anulo/protocol";
import { MAX_CACHES } from "./hasher.ts";
import type { PowAnswer, PowQuestion, ThreadResult, ThreadTask } from "./messages.ts";
import { createWorkList, type Errand } from "./work-list.ts";

/** A thread that does one task at a time. */
export interface HashThread {
  run(task: ThreadTask): void;
}

/** What a thread tells: the result of each task, and once, if it happens, that it is lost. */
export interface ThreadOwner {
  onResult(result: ThreadResult): void;
  onLost(reason: string): void;
}

export interface SchedulerOptions {
  /** Threads at work when nobody searches; a search may ask for more. */
  readonly threads: number;
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
  /** Seeds (hexadecimal) whose caches this thread has, the one used last at the end. */
  readonly seeds: Set<string>;
  errand: (Errand & { readonly since: number }) | undefined;
}

/** Starts without threads; they are hired as work comes. */
export function createScheduler({ threads, hire, answer, now }: SchedulerOptions): Scheduler {
  const hands: Hand[] = [];
  const list = createWorkList(threads, now);
  const finish = (hand: Hand, result: ThreadResult) => {
    const { errand } = hand;
    hand.errand = undefined;
    for (const each of errand?.settle(result, now() - errand.since) ?? []) answer(each);
    assign();
  };
  const employ = (hand: Hand): HashThread =>
    hire({
      onResult: (result) => finish(hand, result),
      onLost(reason) {
        hand.thread = undefined;
        hand.seeds.clear();
        finish(hand, { type: "failed", reason });
      },
    });
  const occupy = (hand: Hand): boolean => {
    const errand = list.next(hand.seeds);
    if (errand === undefined) return false;
    hand.errand = { ...errand, since: now() };
    noteSeed(hand.seeds, errand.task);
    hand.thread ??= employ(hand);
    hand.thread.run(errand.task);
    return true;
  };
  const assign = () => {
    for (const hand of hands) if (hand.errand === undefined && !occupy(hand)) return;
    while (hands.length < list.threadsWanted()) {
      const hand: Hand = { thread: undefined, seeds: new Set(), errand: undefined };
      if (!occupy(hand)) return;
      hands.push(hand);
    }
  };
  return {
    ask(question) {
      list.add(question);
      assign();
    },
  };
}

/** Keeps up which caches a thread has after a task. */
function noteSeed(seeds: Set<string>, task: ThreadTask): void {
  const { seedId } = task.type === "hash" ? task.work : task.type === "try" ? task.search : task;
  if (seedId === undefined) return;
  const seed = toHex(seedId);
  seeds.delete(seed);
  seeds.add(seed);
  for (const oldest of seeds) {
    if (seeds.size <= MAX_CACHES) break;
    seeds.delete(oldest);
  }
}
