/** Items in order, each change of which costs O(log n) comparisons. No two may compare as equal. */
export interface SortedList<T> extends Iterable<T> {
  add(item: T): void;
  /** Takes the item out that compares as equal; nothing happens where there is none. */
  remove(item: T): void;
  /** The last item first. */
  backwards(): Iterable<T>;
  toArray(): T[];
}

/** Items of a chunk, at most: what is moved by one change. */
const MAX_CHUNK = 512;

/** Index of the first of `items` that is not before the wanted one; `isBefore` holds for a start of them. */
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

/** Starts with `items`, in any order. */
export function createSortedList<T>(compare: (a: T, b: T) => number, items: Iterable<T> = []): SortedList<T> {
  /** None is empty; each item is in the first chunk whose last item is not before it. */
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
