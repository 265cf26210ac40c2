/** Runs some work, and counts the turns of the event loop that pass meanwhile. */
export async function turnsDuring<T>(work: () => T | Promise<T>): Promise<{ turns: number; result: T }> {
  let turns = 0;
  let isOver = false;
  const count = () => {
    if (isOver) return;
    turns++;
    setImmediate(count);
  };
  setImmediate(count);
  try {
    return { result: await work(), turns };
  } finally {
    isOver = true;
  }
}
