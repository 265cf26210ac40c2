import type { Engine, PowAnswer, PowQuestion, ThreadMessage, ThreadResult } from "./messages.ts";
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
  /** Seeds (hexadecimal) whose caches this thread was given. */
  readonly seeds: Set<string>;
  errand: (Errand & { readonly since: number }) | undefined;
}

/** Starts without threads; they are hired as work comes. */
export function createScheduler({ hire, answer, now, ...options }: SchedulerOptions): Scheduler {
  const hands: Hand[] = [];
  const list = createWorkList({ ...options, now });
  const finish = (hand: Hand, result: ThreadResult) => {
    const { errand } = hand;
    hand.errand = undefined;
    if (errand?.seed !== undefined) list.seeds.release(errand.seed);
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
  const drop = (seed: string) => {
    for (const { thread, seeds } of hands) if (seeds.delete(seed)) thread?.tell({ type: "drop", seed });
  };
  const giveSource = ({ seeds }: Hand, thread: HashThread, seed: string) => {
    const source = list.seeds.sourceOf(seed);
    list.seeds.hold(seed);
    if (seeds.has(seed) || source === undefined) return;
    seeds.add(seed);
    thread.tell({ type: "take", seed, source });
  };
  const start = (hand: Hand, errand: Errand) => {
    if (errand.dropped !== undefined) drop(errand.dropped);
    hand.errand = { ...errand, since: now() };
    hand.thread ??= employ(hand);
    if (errand.seed !== undefined) giveSource(hand, hand.thread, errand.seed);
    hand.thread.tell(errand.task);
  };
  const idleHand = (): Hand | undefined => {
    const idle = hands.find(({ errand }) => errand === undefined);
    if (idle !== undefined || hands.length >= list.threadsWanted()) return idle;
    const hand: Hand = { thread: undefined, seeds: new Set(), errand: undefined };
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
    if (ms !== undefined) alarm = setTimeout(assign, ms);
  };
  return {
    ask(question) {
      list.add(question);
      assign();
    },
  };
}
