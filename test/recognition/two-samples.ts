/** Whether two samples may have been drawn alike. */

/** Probability of samples at least as different as these where both are drawn alike. Kolmogorov and Smirnov's test. */
export function kolmogorovSmirnovP(first: readonly number[], second: readonly number[]): number {
  const a = [...first].sort((x, y) => x - y);
  const b = [...second].sort((x, y) => x - y);
  let [i, j, distance] = [0, 0, 0];
  while (i < a.length && j < b.length) {
    const value = Math.min(a[i]!, b[j]!);
    while (a[i] === value) ++i;
    while (b[j] === value) ++j;
    distance = Math.max(distance, Math.abs(i / a.length - j / b.length));
  }
  const root = Math.sqrt((a.length * b.length) / (a.length + b.length));
  const lambda = (root + 0.12 + 0.11 / root) * distance;
  if (lambda < 0.2) return 1;
  let p = 0;
  for (let k = 1; k <= 100; ++k) p += 2 * (-1) ** (k - 1) * Math.exp(-2 * (k * lambda) ** 2);
  return Math.min(1, Math.max(0, p));
}

/** Pearson's distance between the counts of each value in two samples. */
function distanceOf(all: readonly string[], sizeOfFirst: number): number {
  const counts = new Map<string, [number, number]>();
  for (const [i, value] of all.entries()) {
    const pair = counts.get(value) ?? [0, 0];
    pair[i < sizeOfFirst ? 0 : 1] += 1;
    counts.set(value, pair);
  }
  const share = sizeOfFirst / all.length;
  let distance = 0;
  for (const [first, second] of counts.values()) {
    const expected = (first + second) * share;
    distance += (first - expected) ** 2 / (expected * (1 - share));
  }
  return distance;
}

const SHUFFLES = 20_000;

/**
 * Probability of samples of values without order at least as different as these where both are drawn alike: how often
 * a shuffled deck, dealt to two, is.
 */
export function permutationP(first: readonly string[], second: readonly string[]): number {
  const all = [...first, ...second];
  const seen = distanceOf(all, first.length) - 1e-9;
  let asFar = 0;
  for (let round = 0; round < SHUFFLES; ++round) {
    for (let i = all.length - 1; i > 0; --i) {
      const j = Math.floor(Math.random() * (i + 1));
      [all[i], all[j]] = [all[j]!, all[i]!];
    }
    if (distanceOf(all, first.length) >= seen) ++asFar;
  }
  return (asFar + 1) / (SHUFFLES + 1);
}
