/** Changes of long lists in place: a list spread as arguments ends on some hundred thousand items. */

/** Drops the items that are not to be kept. */
export function keepWhere<T>(list: T[], isKept: (item: T) => boolean): void {
  let kept = 0;
  for (const item of list) if (isKept(item)) list[kept++] = item;
  list.length = kept;
}

/** Adds all items at the end. */
export function append<T>(list: T[], items: Iterable<T>): void {
  for (const item of items) list.push(item);
}

/** Has the list hold these items and no others. */
export function replaceItems<T>(list: T[], items: Iterable<T>): void {
  list.length = 0;
  append(list, items);
}
