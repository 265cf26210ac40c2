/** Measures the rate of hashes. */
export interface HashRate {
  add(hashes: number): void;
  /** Returns the rate since the last call, in hashes per second. */
  measure(): number;
  /** The rate measured last; 0 before. */
  readonly latest: number;
  /** The average of the last 19 measured rates. */
  readonly average: number;
}

/** Number of rates that are averaged. Source: miner.cpp `merge_hr`. */
const AVERAGED_RATES = 19;

/** Starts at 0; `now` is in milliseconds. */
export function createHashRate(now: () => number): HashRate {
  const rates: number[] = [];
  let hashes = 0;
  let since = now();
  return {
    add(more) {
      hashes += more;
    },
    measure() {
      const rate = (hashes * 1000) / Math.max(1, now() - since);
      hashes = 0;
      since = now();
      rates.push(rate);
      if (rates.length > AVERAGED_RATES) rates.shift();
      return rate;
    },
    get latest() {
      return rates.at(-1) ?? 0;
    },
    get average() {
      return rates.length === 0 ? 0 : rates.reduce((sum, rate) => sum + rate) / rates.length;
    },
  };
}
