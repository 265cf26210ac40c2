import { median } from "@anulo/consensus";
import type { PoolTransaction } from "@anulo/storage";

/** The transactions of one range of age. */
export interface AgeBin {
  /** Number of transactions. */
  txs: number;
  /** Their weight in bytes. */
  bytes: number;
}

/** Statistics of the pool; weights in bytes, fees in atomic units, times in Unix seconds. */
export interface PoolStatistics {
  readonly count: number;
  readonly totalWeight: number;
  readonly smallestWeight: number;
  readonly largestWeight: number;
  readonly medianWeight: number;
  readonly totalFee: bigint;
  readonly oldest: number;
  readonly olderThan10Minutes: number;
  readonly failing: number;
  readonly notRelayed: number;
  readonly doubleSpends: number;
  /** Age in seconds that 98% of the transactions are younger than; 0 when there are too few. */
  readonly age98Percent: number;
  readonly ages: readonly AgeBin[];
}

const TEN_MINUTES = 600;

/** Written as a loop: a pool may have more transactions than a call takes arguments. */
function least(values: readonly number[]): number {
  return values.reduce((smallest, value) => Math.min(smallest, value));
}

/** Source: tx_pool.cpp `get_transaction_stats`. */
export function poolStatistics(rows: readonly PoolTransaction[], now: number): PoolStatistics {
  const weights = rows.map((row) => row.weight);
  const count = (test: (row: PoolTransaction) => boolean) => rows.filter(test).length;
  const oldest = rows.length === 0 ? 0 : least(rows.map((row) => row.receiveTime));
  return {
    count: rows.length,
    totalWeight: weights.reduce((sum, weight) => sum + weight, 0),
    smallestWeight: rows.length === 0 ? 0 : least(weights),
    largestWeight: weights.reduce((most, weight) => Math.max(most, weight), 0),
    medianWeight: rows.length === 0 ? 0 : Math.floor(median(weights)),
    totalFee: rows.reduce((sum, row) => sum + row.fee, 0n),
    oldest,
    olderThan10Minutes: count((row) => row.receiveTime < now - TEN_MINUTES),
    failing: count((row) => row.lastFailedHeight !== 0),
    notRelayed: count((row) => !row.relayed),
    doubleSpends: count((row) => row.doubleSpendSeen),
    ...ageHistogram(rows, now, oldest),
  };
}

/** Weight and number of the transactions of each age (at least one second), youngest first. */
function binsByAge(rows: readonly PoolTransaction[], now: number): [age: number, bin: AgeBin][] {
  const bins = new Map<number, AgeBin>();
  for (const { receiveTime, weight } of rows) {
    const age = Math.max(1, now - receiveTime);
    const bin = bins.get(age) ?? { txs: 0, bytes: 0 };
    bins.set(age, { txs: bin.txs + 1, bytes: bin.bytes + weight });
  }
  return [...bins].sort(([a], [b]) => a - b);
}

/**
 * From 50 transactions on, the youngest 98% share nine bins and the rest has the tenth; with fewer there is
 * a bin for each, at most ten.
 */
function ageHistogram(rows: readonly PoolTransaction[], now: number, oldest: number) {
  if (rows.length <= 1) return { age98Percent: 0, ages: [] };
  const byAge = binsByAge(rows, now);
  const outliers = Math.floor(rows.length * 0.02);
  const firstOutlier = outliers === 0 ? byAge.length : indexOfOldest(byAge, outliers);
  const bins = outliers === 0 ? Math.min(10, rows.length) : 9;
  const age98Percent = outliers === 0 ? 0 : byAge[firstOutlier]![0];
  const span = Math.max(1, outliers === 0 ? now - oldest : age98Percent);
  const ages = Array.from({ length: outliers === 0 ? bins : 10 }, () => ({ txs: 0, bytes: 0 }));
  for (const [i, [age, bin]] of byAge.entries()) {
    const at = i < firstOutlier ? Math.floor((age * bins - 1) / span) : bins;
    const slot = ages[Math.min(at, ages.length - 1)]!;
    slot.txs += bin.txs;
    slot.bytes += bin.bytes;
  }
  return { age98Percent, ages };
}

/** Index of the bin from which on there are at least `wanted` transactions. */
function indexOfOldest(byAge: readonly [number, AgeBin][], target: number): number {
  let sum = 0;
  for (let i = byAge.length - 1; i > 0; i--) {
    sum += byAge[i]![1].txs;
    if (sum >= target) return i;
  }
  return 0;
}
