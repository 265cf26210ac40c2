/**
 * Long lists: changed in place, since spreading a list as arguments fails from some hundred thousand items on, and made
 * item by item.
 */

/** Removes the items for which `isKept` returns false. */
export function keepWhere<T>(list: T[], isKept: (item: T) => boolean): void {
  let end = 0;
  for (const item of list) if (isKept(item)) list[end++] = item;
  list.length = end;
}

/** Adds all items at the end. */
export function append<T>(list: { push(item: T): unknown }, items: Iterable<T>): void {
  for (const item of items) list.push(item);
}

/** Replaces the list's contents by these items. */
export function replaceItems<T>(list: T[], items: Iterable<T>): void {
  list.length = 0;
  append(list, items);
}

/** What `map` makes of each item, when it is asked for. */
export function* mapped<T, R>(items: Iterable<T>, map: (item: T) => R): Generator<R, void> {
  for (const item of items) yield map(item);
}
