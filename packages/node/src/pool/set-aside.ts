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
  const candidates = new Map<
    string,
    Omit<TransactionCandidate, "transaction"> & { readonly blob: Uint8Array }
  >();
  let bytes = 0;
  const forget = (key: string) => {
    bytes -= candidates.get(key)?.weight ?? 0;
    candidates.delete(key);
  };
  return {
    get(key) {
      const candidate = candidates.get(key);
      return (
        candidate && {
          id: candidate.id,
          weight: candidate.weight,
          transaction: readTransaction(candidate.blob),
        }
      );
    },
    add({ id, weight, transaction }) {
      const key = toHex(id);
      forget(key);
      candidates.set(key, { id, weight, blob: writeTransaction(transaction) });
      bytes += weight;
      for (const oldest of candidates.keys()) {
        if (bytes <= maxBytes) break;
        forget(oldest);
      }
    },
  };
}
