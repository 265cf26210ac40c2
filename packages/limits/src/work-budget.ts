/** How much processor time a sender may use. */
export interface WorkBudgetOptions {
  /** Milliseconds of work granted per millisecond that passes: 0.1 is a tenth of a core. */
  readonly share: number;
  /** Milliseconds of work that may be saved up; all of them are available at the start. */
  readonly burstMs: number;
  /** Milliseconds since an arbitrary start; never decreases. */
  readonly now: () => number;
}

/**
 * Processor time that one sender may use, which refills at a rate. Work is charged after it was done, so the budget may
 * become negative; nothing more is accepted from the sender until it is positive again.
 */
export class WorkBudget {
  readonly #options: WorkBudgetOptions;
  #savedMs: number;
  #updatedAt: number;

  constructor(options: WorkBudgetOptions) {
    this.#options = options;
    this.#savedMs = options.burstMs;
    this.#updatedAt = options.now();
  }

  /** Charges milliseconds of work. */
  charge(milliseconds: number): void {
    this.#update();
    this.#savedMs -= milliseconds;
  }

  /** Milliseconds until the budget is no longer negative; 0 where it is not. */
  get waitMs(): number {
    this.#update();
    return this.#savedMs >= 0 ? 0 : Math.ceil(-this.#savedMs / this.#options.share);
  }

  #update(): void {
    const { share, burstMs, now } = this.#options;
    const time = now();
    this.#savedMs = Math.min(burstMs, this.#savedMs + (time - this.#updatedAt) * share);
    this.#updatedAt = time;
  }
}
