/** Runs these one after another, whichever of them fails; rejects with what failed when all have been run. */
export async function stopEach(stops: readonly (() => unknown)[]): Promise<void> {
  const failures: unknown[] = [];
  for (const stop of stops) {
    try {
      await stop();
    } catch (error) {
      failures.push(error);
    }
  }
  if (failures.length > 1) throw new AggregateError(failures, "parts could not be stopped");
  if (failures.length === 1) throw failures[0];
}
