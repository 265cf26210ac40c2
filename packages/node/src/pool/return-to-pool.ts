import {
  chainContext,
  feeOf,
  RuleViolation,
  type TransactionCandidate,
  verifyTransaction,
} from "@anulo/consensus";
import { NULL_HASH, toHex, writeTransaction } from "@anulo/protocol";
import type { ChainWriter, PoolTransaction } from "@anulo/storage";
import type { ChainParts } from "../chain/parts.ts";

/** A `lastRelayedTime` that stands for never. */
export const NEVER = 2n ** 64n - 1n;

/** The newest ring member of a transaction that fits the chain, else nothing: it may fit again later. */
function usedBlock({ state, now }: ChainParts, candidate: TransactionCandidate) {
  const nothing = { maxUsedBlockHeight: 0, maxUsedBlockHash: NULL_HASH };
  const view = state.view();
  try {
    const { newestRingMember } = verifyTransaction(candidate, chainContext(view, now()));
    return { maxUsedBlockHeight: newestRingMember, maxUsedBlockHash: view.blockId(newestRingMember) };
  } catch (error) {
    if (!(error instanceof RuleViolation)) throw error;
    return nothing;
  }
}

/**
 * Puts transactions of blocks that left the chain back into the pool, inside the caller's write
 * transaction, whether they fit the chain now or not. Source: tx_pool.cpp `add_tx` with `kept_by_block`.
 */
export function returnToPool(
  parts: ChainParts,
  writer: ChainWriter,
  transactions: readonly TransactionCandidate[],
): void {
  const { pool, now } = parts;
  for (const candidate of transactions) {
    if (pool.get(toHex(candidate.id)) !== undefined) continue;
    const row: PoolTransaction = {
      ...usedBlock(parts, candidate),
      weight: candidate.weight,
      fee: feeOf(candidate),
      receiveTime: now(),
      lastRelayedTime: NEVER,
      lastFailedHeight: 0,
      lastFailedHash: NULL_HASH,
      keptByBlock: true,
      relayed: true,
      doNotRelay: false,
      doubleSpendSeen: false,
      phase: "fluff",
      blob: writeTransaction(candidate.transaction),
    };
    pool.add(writer, candidate.id, row);
  }
}
