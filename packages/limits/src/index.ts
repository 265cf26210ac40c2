export { addressBlock } from "./address-block.ts";
export { ByteBudget, type ByteReservation } from "./byte-budget.ts";
export type { CostLimits } from "./cost-limits.ts";
export { IncomingBytes } from "./incoming-bytes.ts";
export { LoopLoad, type LoopTime } from "./loop-load.ts";
export { type MaybePromise, whenFailed, whenOver, whenReady } from "./maybe-promise.ts";
export { SHARED_SLICE_MS, SharedTurns } from "./shared-turns.ts";
export { forEachSliced, mapSliced, runSliced, SLICE_MS, type SliceOptions, TimeSlice } from "./time-slice.ts";
export { WorkBudget, type WorkBudgetOptions } from "./work-budget.ts";
