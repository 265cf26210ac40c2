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

/** Does something before the task and after it. */
export type Surrounding<T> = (task: () => Promise<T>) => Promise<unknown>;

/** Runs a task once, inside of all these at the same time. */
export async function within<T>(surroundings: readonly Surrounding<T>[], task: () => Promise<T>): Promise<T> {
  let missing = surroundings.length;
  let begin = (): void => undefined;
  let fail = (_: unknown): void => undefined;
  const done = new Promise<T>((resolve, reject) => {
    begin = () => resolve(task());
    fail = reject;
  });
  if (missing === 0) begin();
  const ended = surroundings.map(async (surround) => {
    const surrounded = surround(() => {
      missing -= 1;
      if (missing === 0) begin();
      return done;
    });
    // Where one fails before the task, the others wait for it no longer.
    await surrounded.catch(fail);
    await surrounded;
  });
  await allOrNone<unknown>([done, ...ended]);
  return await done;
}
