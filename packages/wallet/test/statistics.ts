/** What tests of chance need. Source: Press et al., "Numerical Recipes", §6.2, §14.3. */

/** Logarithm of the gamma function. Source: Lanczos, "A precision approximation of the gamma function" (1964). */
function logGamma(x: number): number {
  const terms = [
    76.18009172947146, -86.5053203294168, 24.01409824083091, -1.231739572450155, 0.1208650973866179e-2,
    -0.5395239384953e-5,
  ];
  const base = x + 5.5;
  const series = terms.reduce((sum, term, i) => sum + term / (x + 1 + i), 1.000000000190015);
  return (x + 0.5) * Math.log(base) - base + Math.log((Math.sqrt(2 * Math.PI) * series) / x);
}

/** The lower part, by its power series; good for x < a + 1. */
function lowerSeries(a: number, x: number): number {
  let term = 1 / a;
  let sum = term;
  for (let n = 1; n < 1000 && Math.abs(term) > Math.abs(sum) * 1e-16; ++n) {
    term *= x / (a + n);
    sum += term;
  }
  return sum * Math.exp(-x + a * Math.log(x) - logGamma(a));
}

/** The upper part, by its continued fraction; good for x > a + 1. */
function upperFraction(a: number, x: number): number {
  let b = x + 1 - a;
  let c = 1e300;
  let d = 1 / b;
  let h = d;
  for (let n = 1; n < 1000; ++n) {
    const an = -n * (n - a);
    b += 2;
    d = 1 / (an * d + b);
    c = b + an / c;
    h *= d * c;
    if (Math.abs(d * c - 1) < 1e-15) break;
  }
  return h * Math.exp(-x + a * Math.log(x) - logGamma(a));
}

/** Probability that a gamma variable of scale 1 is at most x. */
export function gammaCdf(shape: number, x: number): number {
  if (x <= 0) return 0;
  return x < shape + 1 ? lowerSeries(shape, x) : 1 - upperFraction(shape, x);
}

/** Probability of counts at least as odd as these where `expected` are right (same total). Pearson's test. */
export function chiSquareP(observed: readonly number[], expected: readonly number[]): number {
  const distance = observed.reduce((sum, count, i) => sum + (count - expected[i]!) ** 2 / expected[i]!, 0);
  return 1 - gammaCdf((observed.length - 1) / 2, distance / 2);
}
