/** Items in order; each change costs O(log n) comparisons. No two items may compare as equal. */
export interface SortedList<T> extends Iterable<T> {
  add(item: T): void;
  /** Removes the item that compares as equal; does nothing if there is none. */
  remove(item: T): void;
  /** The last item first. */
  backwards(): Iterable<T>;
  toArray(): T[];
}

/** Maximum number of items per chunk, which one change may move. */
const MAX_CHUNK = 512;

/**
 * Index of the first of `items` for which `isBefore` is false; it must be true for all items before that one and for
 * none after.
 */
export function firstNot<T>(items: readonly T[], isBefore: (item: T) => boolean): number {
  let low = 0;
  let high = items.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (isBefore(items[middle]!)) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Creates the list with `items`, in any order. */
export function createSortedList<T>(compare: (a: T, b: T) => number, items: Iterable<T> = []): SortedList<T> {
  /** No chunk is empty; each item is in the first chunk whose last item is not before it. */
  const chunks: T[][] = [];
  const sorted = [...items].sort(compare);
  for (let at = 0; at < sorted.length; at += MAX_CHUNK / 2) chunks.push(sorted.slice(at, at + MAX_CHUNK / 2));
  const chunkOf = (item: T) => firstNot(chunks, (chunk) => compare(chunk.at(-1)!, item) < 0);
  const placeIn = (chunk: readonly T[], item: T) => firstNot(chunk, (other) => compare(other, item) < 0);
  return {
    add(item) {
      if (chunks.length === 0) return void chunks.push([item]);
      const at = Math.min(chunkOf(item), chunks.length - 1);
      const chunk = chunks[at]!;
      chunk.splice(placeIn(chunk, item), 0, item);
      if (chunk.length > MAX_CHUNK) chunks.splice(at + 1, 0, chunk.splice(MAX_CHUNK / 2));
    },
    remove(item) {
      const at = chunkOf(item);
      const chunk = chunks[at];
      if (chunk === undefined) return;
      const place = placeIn(chunk, item);
      if (compare(chunk[place]!, item) !== 0) return;
      chunk.splice(place, 1);
      if (chunk.length === 0) chunks.splice(at, 1);
    },
    *backwards() {
      for (let at = chunks.length - 1; at >= 0; at--) {
        const chunk = chunks[at]!;
        for (let i = chunk.length - 1; i >= 0; i--) yield chunk[i]!;
      }
    },
    *[Symbol.iterator]() {
      for (const chunk of chunks) yield* chunk;
    },
    toArray: () => ([] as T[]).concat(...chunks),
  };
}
