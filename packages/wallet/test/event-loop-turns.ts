/** Counts the turns of the event loop that pass while work goes on. */
export async function turnsDuring(work: () => unknown): Promise<number> {
  let turns = 0;
  const count = () => {
    turns++;
    next = setImmediate(count);
  };
  let next = setImmediate(count);
  try {
    await work();
  } finally {
    clearImmediate(next);
  }
  return turns;
}
