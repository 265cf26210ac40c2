import type { TransactionCandidate } from "@anulo/consensus";
import { readTransaction } from "@anulo/protocol";
import type { PoolEntry } from "./entry.ts";

/** A pool entry as the rules judge it. */
export function candidateOf({ id, row }: PoolEntry): TransactionCandidate {
  return { transaction: readTransaction(row.blob), id, weight: row.weight };
}
