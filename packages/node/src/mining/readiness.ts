import {
  type ChainView,
  chainContext,
  type Obligation,
  RuleViolation,
  type TransactionCandidate,
  verifyTransaction,
} from "@anulo/consensus";
import { equalBytes } from "@anulo/protocol";
import type { ChainParts } from "../chain/parts.ts";
import { candidateOf } from "../pool/candidate.ts";
import type { PoolEntry } from "../pool/entry.ts";
import { transact } from "../pool/parts.ts";

/** Decides for one template which pool transactions may go into it. */
export interface Readiness {
  /** True when the transaction fits the chain and spends nothing that a transaction chosen before spends. */
  isReady(key: string): boolean;
  /** Marks the transactions that failed in the pool; throws OpenProofs if proofs of chosen ones are unchecked. */
  finish(): void;
}

/** Judges each transaction once. Source: tx_pool.cpp `is_transaction_ready_to_go`. */
export function createReadiness(parts: ChainParts, view: ChainView): Readiness {
  const spent = new Set<string>();
  const failed: string[] = [];
  const open: Obligation[] = [];
  const isReady = (entry: PoolEntry) => {
    if (failedHere(entry, view) || entry.keyImages.some((image) => spent.has(image))) return false;
    const obligations = judge(parts, view, candidateOf(entry));
    if (obligations === undefined) failed.push(entry.key);
    if (obligations === undefined) return false;
    open.push(...parts.proofs.unproven(obligations));
    for (const image of entry.keyImages) spent.add(image);
    return true;
  };
  return {
    isReady(key) {
      const entry = parts.pool.get(key);
      return entry !== undefined && isReady(entry);
    },
    finish() {
      markFailed(parts, failed);
      parts.proofs.requireProven(open);
    },
  };
}

function judge(
  { now }: ChainParts,
  view: ChainView,
  candidate: TransactionCandidate,
): readonly Obligation[] | undefined {
  try {
    return verifyTransaction(candidate, chainContext(view, now())).obligations;
  } catch (error) {
    if (!(error instanceof RuleViolation)) throw error;
    return undefined;
  }
}

/** True when it failed on top of a block that is still in the chain, and nothing has changed since. */
function failedHere({ row }: PoolEntry, view: ChainView): boolean {
  const { lastFailedHeight, lastFailedHash } = row;
  if (lastFailedHeight === 0 || lastFailedHeight >= view.height) return false;
  return equalBytes(view.blockId(lastFailedHeight), lastFailedHash);
}

/** Records that these transactions (ids in hexadecimal) do not fit the current chain. */
export function markFailed(parts: ChainParts, keys: readonly string[]): void {
  if (keys.length === 0) return;
  const { height, topId } = parts.state.view();
  transact(parts, (writer) => {
    for (const key of keys) {
      parts.pool.update(writer, key, { lastFailedHeight: height - 1, lastFailedHash: topId });
    }
  });
}
