import type { CostLimits } from "@anulo/limits";
import type { RecordField } from "@anulo/protocol";

/** The declaration of a message that gets no answer. */
export interface Notification<T> {
  readonly id: number;
  readonly name: string;
  readonly payload: RecordField<T>;
  /** The cost limits of one message; a longer payload closes the connection before it is read. */
  readonly cost: CostLimits;
}
