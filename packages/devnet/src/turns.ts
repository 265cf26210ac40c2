/** Runs tasks one after the other, in the order in which they came. */
export function createTurns(): <T>(task: () => Promise<T>) => Promise<T> {
  let last: Promise<unknown> = Promise.resolve();
  return (task) => {
    const run = last.then(task);
    last = run.catch(() => undefined);
    return run;
  };
}

/** Waits for the end of all, so that nothing is still under way when one has failed. */
export async function allOrNone<T>(promises: readonly Promise<T>[]): Promise<T[]> {
  await Promise.allSettled(promises);
  return await Promise.all(promises);
}

/** What around a task: it does something before and after. */
export type Wrapping<T> = (task: () => Promise<T>) => Promise<unknown>;

/** Runs a task once, inside of all these at the same time. */
export async function within<T>(around: readonly Wrapping<T>[], task: () => Promise<T>): Promise<T> {
  let missing = around.length;
  let begin = (): void => undefined;
  let fail = (_: unknown): void => undefined;
  const done = new Promise<T>((resolve, reject) => {
    begin = () => resolve(task());
    fail = reject;
  });
  if (missing === 0) begin();
  const ended = around.map(async (wrap) => {
    const wrapped = wrap(() => {
      missing -= 1;
      if (missing === 0) begin();
      return done;
    });
    // Where one fails before the task, the others wait for it no longer.
    await wrapped.catch(fail);
    await wrapped;
  });
  await allOrNone<unknown>([done, ...ended]);
  return await done;
}
