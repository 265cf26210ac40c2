/** Computes a value again only when one of the facts it depends on has changed. */
export type Memo<T> = (facts: readonly unknown[], compute: () => T) => T;

export function createMemo<T>(): Memo<T> {
  let last: { readonly facts: readonly unknown[]; readonly value: T } | undefined;
  return (facts, compute) => {
    if (last === undefined || !last.facts.every((fact, i) => Object.is(fact, facts[i]))) {
      last = { facts, value: compute() };
    }
    return last.value;
  };
}
