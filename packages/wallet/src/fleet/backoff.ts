/** Wallets that could not be opened, which this process leaves to others for a while: longer after each time. */

const FIRST_MS = 10_000;
const LONGEST_MS = 300_000;
/** Maximum number of wallets that are remembered; they go to the database with every request for leases. */
const MOST = 1000;

type Failure = { readonly waitMs: number; readonly until: number };

export class Backoff {
  readonly #elapsed: () => number;
  readonly #failures = new Map<string, Failure>();

  /** `elapsed` returns milliseconds of a monotonic clock. */
  constructor(elapsed: () => number) {
    this.#elapsed = elapsed;
  }

  failed(name: string): void {
    const former = this.#failures.get(name);
    const waitMs = former === undefined ? FIRST_MS : Math.min(LONGEST_MS, 2 * former.waitMs);
    this.#failures.delete(name);
    this.#failures.set(name, { waitMs, until: this.#elapsed() + waitMs });
    const [oldest] = this.#failures.keys();
    if (this.#failures.size > MOST) this.#failures.delete(oldest!);
  }

  succeeded(name: string): void {
    this.#failures.delete(name);
  }

  /** The wallets that are not to be tried yet. */
  waiting(): string[] {
    const now = this.#elapsed();
    return [...this.#failures].flatMap(([name, { until }]) => (until > now ? [name] : []));
  }
}
