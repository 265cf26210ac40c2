/** Computes a value again only when one of the facts it depends on is another one. */
export type Once<T> = (facts: readonly unknown[], compute: () => T) => T;

export function createOnce<T>(): Once<T> {
  let last: { readonly facts: readonly unknown[]; readonly value: T } | undefined;
  return (facts, compute) => {
    if (last === undefined || !last.facts.every((fact, i) => Object.is(fact, facts[i]))) {
      last = { facts, value: compute() };
    }
    return last.value;
  };
}
