import type { Difference } from "./compare.ts";
import type { GoldenAnswer, GoldenGroup, GoldenStep } from "./recording.ts";

export type Context = {
  readonly step: GoldenStep;
  readonly method: string;
  readonly group: GoldenGroup;
  /** Undefined: the original programs, which have no intended difference. */
  readonly dialect: "contract" | "upstream" | undefined;
};

/** The answer a step must get in this dialect, with the paths whose values may differ. */
export function demandedAnswer({ step }: Context): { answer: GoldenAnswer; volatile: readonly string[] } {
  return { answer: step.answer, volatile: step.volatile ?? [] };
}

/** Is this difference from the demanded answer one we want? */
export function isIntended(_context: Context, _difference: Difference): boolean {
  return false;
}
