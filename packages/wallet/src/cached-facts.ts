/** Results computed from a wallet's state, cached until the state changes. */
import { LazyMap } from "./packed/lazy-map.ts";

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
  readonly #cache = new LazyMap<string, Known>();

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
    const cached = this.#cache.get(key);
    if (cached?.moment === moment) return cached.facts as T;
    const basis = question.basis?.();
    if (cached?.basis !== undefined && basis !== undefined && isSame(cached.basis, basis)) {
      cached.moment = moment;
      return cached.facts as T;
    }
    const facts = make();
    this.#keep(key, { moment, basis, facts });
    return facts;
  }

  clear(): void {
    this.#cache.clear();
  }

  /** Drops results that cannot be right any more: those of an earlier moment that have no basis to compare. */
  #dropUntrue(moment: object): void {
    for (const [key, cached] of this.#cache)
      if (cached.moment !== moment && cached.basis === undefined) this.#cache.delete(key);
  }

  #keep(key: string, cached: Known): void {
    this.#cache.delete(key);
    for (const oldest of this.#cache.keys()) {
      if (this.#cache.size < MAX_FACTS) break;
      this.#cache.delete(oldest);
    }
    this.#cache.set(key, cached);
  }
}

function isSame(a: readonly unknown[], b: readonly unknown[]): boolean {
  return a.length === b.length && a.every((value, i) => value === b[i]);
}
