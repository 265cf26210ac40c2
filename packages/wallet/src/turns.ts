/** Scheduling of work that must not run concurrently, or must not block the event loop. */
import { setImmediate as setNextTurn } from "node:timers";
import { setImmediate } from "node:timers/promises";

/** Runs tasks one after the other, in the order in which they were added; a task that fails does not stop the next. */
export class TaskQueue {
  #last: Promise<unknown> = Promise.resolve();
  /** Number of tasks that run or wait. */
  #count = 0;

  /** Resolves with the result of the task, which runs once those before it have ended. */
  run<T>(task: () => Promise<T>): Promise<T> {
    this.#count++;
    const mine = this.#last.then(task).finally(() => {
      this.#count--;
    });
    this.#last = mine.catch(() => undefined);
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

/** Lets a limited number of tasks run at once; the others wait, in the order in which they came. */
export class Permits {
  #free: number;
  readonly #waiting: (() => void)[] = [];

  constructor(count: number) {
    this.#free = count;
  }

  async run<T>(task: () => Promise<T>): Promise<T> {
    if (this.#free > 0) this.#free -= 1;
    else await new Promise<void>((resolve) => this.#waiting.push(resolve));
    try {
      return await task();
    } finally {
      const next = this.#waiting.shift();
      if (next === undefined) this.#free += 1;
      else next();
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
