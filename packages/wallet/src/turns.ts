/** Scheduling of work that must not run concurrently, or must not block the event loop. */
import { setImmediate as setNextTurn } from "node:timers";
import { setImmediate } from "node:timers/promises";

/** Maximum duration (milliseconds) of a timer; a longer one would end at once. */
export const MAX_TIMER_MS = 2 ** 31 - 1;

/** Runs tasks one after the other, in the order in which they were added; a task that fails does not stop the next. */
export class TaskQueue {
  #last: Promise<unknown> = Promise.resolve();
  /** Number of tasks that run or wait. */
  #count = 0;

  /** Resolves with the result of the task, which runs once those before it have ended. */
  run<T>(task: () => Promise<T>): Promise<T> {
    this.#count++;
    const mine = this.#last.then(task);
    const end = () => {
      this.#count--;
    };
    this.#last = mine.then(end, end);
    return mine;
  }

  /** Runs the task if no other runs or waits; otherwise does nothing. */
  async runIfIdle(task: () => Promise<void>): Promise<void> {
    if (this.#count === 0) await this.run(task);
  }

  /** Resolves once every task added so far has ended. */
  async whenIdle(): Promise<void> {
    await this.#last;
  }
}

/** A task that waits for a permit. */
type Waiting = { readonly begin: () => void; readonly isNeeded: () => boolean };

/**
 * Lets a limited number of tasks run at once; the others wait, in the order in which they came, but those that nobody
 * needs yet wait until no other does.
 */
export class Permits {
  #free: number;
  readonly #waiting: Waiting[] = [];

  constructor(count: number) {
    this.#free = count;
  }

  /** `isNeeded` is asked whenever a permit is free, since a task may become needed while it waits. */
  async run<T>(task: () => Promise<T>, isNeeded: () => boolean = () => true): Promise<T> {
    if (this.#free > 0) this.#free -= 1;
    else await new Promise<void>((begin) => this.#waiting.push({ begin, isNeeded }));
    try {
      return await task();
    } finally {
      const needed = this.#waiting.findIndex((waiting) => waiting.isNeeded());
      const [next] = this.#waiting.splice(Math.max(0, needed), 1);
      if (next === undefined) this.#free += 1;
      else next.begin();
    }
  }
}

/** Maximum duration (milliseconds) of the tasks of one turn. */
const TURN_MS = 8;

/** Runs short tasks in the order in which they came, and yields to the event loop before a turn takes long. */
export class Turns {
  #tasks: (() => void)[] = [];
  #isPlanned = false;

  /** `task` must not throw. */
  add(task: () => void): void {
    this.#tasks.push(task);
    this.#plan();
  }

  #plan(): void {
    if (this.#isPlanned) return;
    this.#isPlanned = true;
    setNextTurn(() => this.#run());
  }

  #run(): void {
    const end = performance.now() + TURN_MS;
    let done = 0;
    while (done < this.#tasks.length && performance.now() < end) this.#tasks[done++]!();
    this.#tasks = this.#tasks.slice(done);
    this.#isPlanned = false;
    if (this.#tasks.length > 0) this.#plan();
  }
}

const STEPS_AT_ONCE = 16;

/** Maps in order and yields to the event loop after every 16 steps, or after the given number. */
export async function mapPatiently<T, R>(
  values: Iterable<T>,
  step: (value: T) => R,
  { stepsAtOnce = STEPS_AT_ONCE }: { readonly stepsAtOnce?: number } = {},
): Promise<R[]> {
  const results: R[] = [];
  for (const value of values) {
    if (results.length % stepsAtOnce === stepsAtOnce - 1) await setImmediate();
    results.push(step(value));
  }
  return results;
}
