import type { Backend } from "../src/backend.ts";
import { createBackend } from "../src/engine.ts";
import { reference } from "../src/reference/backend.ts";
import { hasFusedMultiplyAdd } from "../src/wasm/kernel.ts";

/** The backends of this machine: every suite runs on each. */
export const backends: readonly Backend[] = [
  reference,
  ...(hasFusedMultiplyAdd() ? [createBackend("fma")] : []),
];
