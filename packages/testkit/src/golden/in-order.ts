/** Runs at most `atOnce` items at a time and yields what they gave, in their order. */
export async function* inOrder<Item, Result>(
  items: readonly Item[],
  atOnce: number,
  run: (item: Item) => Promise<Result>,
): AsyncGenerator<[Item, Result]> {
  const running: Promise<Result>[] = [];
  for (const [at, item] of items.entries()) {
    while (running.length < Math.min(at + atOnce, items.length)) {
      const started = run(items[running.length]!);
      // Whoever waits for it gets the reason; until then it is no unhandled rejection.
      void started.catch(() => {});
      running.push(started);
    }
    yield [item, await running[at]!];
  }
}
