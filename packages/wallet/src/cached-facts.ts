/** Results computed from a wallet's state, cached until the state changes. */

/** Maximum number of cached results per wallet: some callers repeat a few requests. Long results take megabytes. */
const MAX_FACTS = 8;
/** Results of requests whose key is longer than this (characters) are not cached. */
const MAX_LETTERS = 1000;

export type Question = {
  readonly name: string;
  readonly params: object;
  /** Returns all values the result is computed from, where comparing them is faster than computing the result. */
  readonly basis?: () => readonly unknown[];
};

type Known = {
  /** The state (as an object) for which the result was last known to be right. */
  moment: object;
  readonly basis: readonly unknown[] | undefined;
  readonly facts: object;
};

export class CachedFacts {
  readonly #momentNow: () => object;
  readonly #known = new Map<string, Known>();

  /** `momentNow` returns the same object while the state has not changed. */
  constructor(momentNow: () => object) {
    this.#momentNow = momentNow;
  }

  /** Returns what `make` returns: the same object as before while the state it shows has not changed. */
  of<T extends object>(question: Question, make: () => T): T {
    const key = question.name + JSON.stringify(question.params);
    if (key.length > MAX_LETTERS) return make();
    const moment = this.#momentNow();
    this.#dropUntrue(moment);
    const known = this.#known.get(key);
    if (known?.moment === moment) return known.facts as T;
    const basis = question.basis?.();
    if (known?.basis !== undefined && basis !== undefined && isSame(known.basis, basis)) {
      known.moment = moment;
      return known.facts as T;
    }
    const facts = make();
    this.#keep(key, { moment, basis, facts });
    return facts;
  }

  clear(): void {
    this.#known.clear();
  }

  /** Drops results that cannot be right any more: those of an earlier moment that have no basis to compare. */
  #dropUntrue(moment: object): void {
    for (const [key, known] of this.#known)
      if (known.moment !== moment && known.basis === undefined) this.#known.delete(key);
  }

  #keep(key: string, known: Known): void {
    this.#known.delete(key);
    for (const oldest of this.#known.keys()) {
      if (this.#known.size < MAX_FACTS) break;
      this.#known.delete(oldest);
    }
    this.#known.set(key, known);
  }
}

function isSame(a: readonly unknown[], b: readonly unknown[]): boolean {
  return a.length === b.length && a.every((value, i) => value === b[i]);
}
