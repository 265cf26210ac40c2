/**
 * Verdicts about many statements, from one computation for all. `compute` returns undefined if a point does not decode,
 * which does not happen with honest statements; then each statement is checked alone. A malformed statement is false.
 */
export function eachVerdict<T>(
  statements: readonly T[],
  isFormed: (statement: T) => boolean,
  compute: (formed: readonly T[]) => boolean[] | undefined,
): boolean[] {
  const areFormed = statements.map(isFormed);
  const formed = statements.filter((_, i) => areFormed[i]);
  const verdicts = compute(formed) ?? formed.map((statement) => compute([statement])?.[0] === true);
  let next = 0;
  return areFormed.map((isOne) => isOne && verdicts[next++]!);
}
