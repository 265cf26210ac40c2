/** What is made of a wallet's state, kept until that changes. */

/** Facts kept of one wallet: some callers ask for several again and again. Long ones take megabytes. */
const MAX_FACTS = 8;
/** Questions longer than this are not asked twice. */
const MAX_LETTERS = 1000;

export type Question = {
  readonly name: string;
  readonly params: object;
  /** All that the facts are made of, where that is looked through sooner than they are made. */
  readonly basis?: () => readonly unknown[];
};

type Known = {
  /** When they were last known to be true. */
  moment: object;
  readonly basis: readonly unknown[] | undefined;
  readonly facts: object;
};

export class CachedFacts {
  readonly #momentNow: () => object;
  readonly #known = new Map<string, Known>();

  /** `momentNow` answers the same object while the state has not changed. */
  constructor(momentNow: () => object) {
    this.#momentNow = momentNow;
  }

  /** What `make` makes: the same object as before while the state it shows has not changed. */
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

  /** Those stay that may still be true: of this moment, or with a basis that can be looked at. */
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
