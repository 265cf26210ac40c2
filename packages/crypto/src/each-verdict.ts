/**
 * Verdicts about many statements, from one computation for all. `compute` answers undefined where a point does not
 * decode: those of honest makers all do; where one does not, each statement is looked at alone. What is not well
 * formed is false.
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
