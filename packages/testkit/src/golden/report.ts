import { formatExact } from "@anulo/devnet";
import type { Difference } from "./compare.ts";
import type { Outcome, StepResult } from "./result.ts";

/** One line on one difference. */
export function describeDifference(difference: Difference): string {
  const textOf = (value: Difference["recorded"]) =>
    value === undefined ? "nothing" : formatExact(value).slice(0, 160);
  return `${difference.kind} ${difference.path}: recorded ${textOf(difference.recorded)}, now ${textOf(difference.actual)}`;
}

/** A step and its first differences, in one line. */
export function describeResult({ step, differences }: StepResult): string {
  const first = differences.slice(0, 3).map(describeDifference);
  const more = differences.length > first.length ? [`and ${differences.length - first.length} more`] : [];
  return `${step.to} ${step.id}: ${[...first, ...more].join("; ")}`;
}

/** How many steps had an outcome. */
export function count(results: readonly StepResult[], outcome: Outcome): number {
  return results.filter((result) => result.outcome === outcome).length;
}

/** One line on many steps. */
export function summary(results: readonly StepResult[]): string {
  const intended = results.filter(({ outcome, isIntended }) => outcome === "agreeing" && isIntended).length;
  const notSent = count(results, "notSent");
  return [
    `${count(results, "agreeing")} agreeing${intended > 0 ? ` (${intended} with intended differences)` : ""}`,
    `${count(results, "differing")} differing`,
    `${count(results, "notYet")} not yet`,
    ...(notSent > 0 ? [`${notSent} not sent`] : []),
  ].join(", ");
}
