import type { TransactionCandidate } from "@anulo/consensus";
import { readTransaction, toHex, writeTransaction } from "@anulo/protocol";

/** Maximum bytes kept; beyond it the oldest are forgotten, and have to be sent again with their block. */
const MAX_BYTES = 32 * 1024 * 1024;

/**
 * Transactions of side blocks that the main chain's hard fork does not allow in the pool: their branch, under another
 * fork, may become the main chain.
 */
export interface SetAsideTransactions {
  /** By id (hexadecimal). */
  get(key: string): TransactionCandidate | undefined;
  add(candidate: TransactionCandidate): void;
}

/** Creates an empty collection. */
export function createSetAside(maxBytes = MAX_BYTES): SetAsideTransactions {
  const kept = new Map<string, Omit<TransactionCandidate, "transaction"> & { readonly blob: Uint8Array }>();
  let bytes = 0;
  const forget = (key: string) => {
    bytes -= kept.get(key)?.weight ?? 0;
    kept.delete(key);
  };
  return {
    get(key) {
      const found = kept.get(key);
      return found && { id: found.id, weight: found.weight, transaction: readTransaction(found.blob) };
    },
    add({ id, weight, transaction }) {
      const key = toHex(id);
      forget(key);
      kept.set(key, { id, weight, blob: writeTransaction(transaction) });
      bytes += weight;
      for (const oldest of kept.keys()) {
        if (bytes <= maxBytes) break;
        forget(oldest);
      }
    },
  };
}
