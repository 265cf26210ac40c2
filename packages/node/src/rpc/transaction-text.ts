import type { Quoted } from "@anulo/rpc";

/** The fields of an entry that follow from the transaction alone, ready to be sent. */
export interface TransactionText {
  readonly isRemembered: boolean;
  /** Memory they take, about. */
  readonly bytes: number;
  readonly fields: {
    readonly as_hex: Uint8Array;
    readonly as_json: Quoted;
    readonly pruned_as_hex: Uint8Array;
    readonly prunable_as_hex: Uint8Array;
    readonly prunable_hash: Uint8Array;
    readonly tx_hash: string;
  };
}
