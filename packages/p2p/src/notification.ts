import type { CostLimits } from "@anulo/limits";
import type { RecordField } from "@anulo/protocol";

/** A message that is not answered, declared once. */
export interface Notification<T> {
  readonly id: number;
  readonly name: string;
  readonly payload: RecordField<T>;
  /** What one may cost; a longer payload closes the connection before it is read. */
  readonly cost: CostLimits;
}
