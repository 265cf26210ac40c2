import type { RecordedRelease } from "../fixtures.ts";
import type { GoldenGroup, GoldenStep } from "./recording.ts";

/** What decides which answer a step must get. */
export type Context = {
  readonly step: GoldenStep;
  readonly method: string;
  readonly group: GoldenGroup;
  /** Of the original programs that were recorded. */
  readonly release: RecordedRelease;
  /** Undefined: the original programs, which have no intended difference. */
  readonly dialect: "contract" | "upstream" | undefined;
};
