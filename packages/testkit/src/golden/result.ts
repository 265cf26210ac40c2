import type { Difference } from "./compare.ts";
import type { GoldenStep } from "./recording.ts";

export type Outcome = "agreeing" | "differing" | "notYet" | "notSent";

export type StepResult = {
  readonly step: GoldenStep;
  readonly method: string;
  readonly outcome: Outcome;
  readonly differences: readonly Difference[];
  /** Another answer than the recorded one is demanded. */
  readonly isIntended: boolean;
};
