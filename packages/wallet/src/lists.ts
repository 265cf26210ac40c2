/** Changes of long lists in place: spreading a list as arguments fails from some hundred thousand items on. */

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
