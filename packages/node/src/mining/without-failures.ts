import { toHex } from "@anulo/protocol";
import type { ChainParts } from "../chain/parts.ts";
import { FailedProof } from "../chain/proofs.ts";
import { markFailed } from "./readiness.ts";

/**
 * Repeats an attempt to fill a block from the pool until its proofs hold; a pool transaction with a proof that does not
 * hold is marked, so that the next attempt leaves it out.
 */
export async function runWithoutFailures<T>(parts: ChainParts, attempt: () => T): Promise<T> {
  for (;;) {
    try {
      return await parts.proofs.runProven(attempt);
    } catch (error) {
      const key = error instanceof FailedProof && error.transactionId && toHex(error.transactionId);
      if (!key || parts.pool.get(key) === undefined) throw error;
      await parts.store.whenWritable(() => markFailed(parts, [key]));
    }
  }
}
