import type { Backend } from "../src/backend.ts";
import { reference } from "../src/reference/backend.ts";

/** The backends of this machine: every suite runs on each. */
export const backends: readonly Backend[] = [reference];
