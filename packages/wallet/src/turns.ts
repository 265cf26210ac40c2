/** Work that must not run at once, or must not keep others waiting. */
import { setImmediate as setNextTurn } from "node:timers";
import { setImmediate } from "node:timers/promises";

/** Runs tasks one after the other, in the order they came; a task that fails does not stop the next. */
export class TaskQueue {
  #last: Promise<unknown> = Promise.resolve();
  /** Tasks that run or wait. */
  #count = 0;

  /** What the task answers, once those before it have ended. */
  run<T>(task: () => Promise<T>): Promise<T> {
    this.#count++;
    const mine = this.#last.then(task).finally(() => {
      this.#count--;
    });
    this.#last = mine.catch(() => undefined);
    return mine;
  }

  /** The same where no other runs or waits; else the task is left out. */
  async runIfIdle(task: () => Promise<void>): Promise<void> {
    if (this.#count === 0) await this.run(task);
  }

  /** Settles once every task that was given so far has ended. */
  async whenIdle(): Promise<void> {
    await this.#last;
  }
}

/** Lets so many tasks run at once; the others wait, in the order they came. */
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

/** So long tasks of one turn may take. */
const TURN_MS = 8;

/** Runs short tasks in the order they came, so many in a turn of the event loop that none takes long. */
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

/** Maps in order, letting others run after every 16 steps or as many as are said. */
export async function mapPatiently<T, R>(
  values: readonly T[],
  step: (value: T) => R,
  { stepsAtOnce = STEPS_AT_ONCE }: { readonly stepsAtOnce?: number } = {},
): Promise<R[]> {
  const results: R[] = [];
  for (const [i, value] of values.entries()) {
    if (i % stepsAtOnce === stepsAtOnce - 1) await setImmediate();
    results.push(step(value));
  }
  return results;
}
