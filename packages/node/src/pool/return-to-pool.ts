import { chainContext, feeOf, readmitTransaction, type TransactionCandidate } from "@anulo/consensus";
import { NULL_HASH, toHex, writeTransaction } from "@anulo/protocol";
import type { ChainWriter, PoolTransaction } from "@anulo/storage";
import { NEVER } from "./entry.ts";
import type { PoolChangeParts } from "./parts.ts";

/** The newest ring member's block, to be stored; none if the inputs do not fit, since they may fit again later. */
function usedBlock({ state }: PoolChangeParts, newestRingMember: number) {
  const maxUsedBlockHash = newestRingMember === 0 ? NULL_HASH : state.view().blockId(newestRingMember);
  return { maxUsedBlockHeight: newestRingMember, maxUsedBlockHash };
}

/**
 * Returns transactions of removed blocks to the pool, inside the caller's write transaction, whether their inputs fit
 * the chain now or not; those that the fork forbids are set aside. Source: tx_pool.cpp `add_tx` with `kept_by_block`.
 */
export function returnToPool(
  parts: PoolChangeParts,
  writer: ChainWriter,
  transactions: readonly TransactionCandidate[],
): void {
  const { pool, setAside, state, now } = parts;
  const context = chainContext(state.view(), now());
  for (const candidate of transactions) {
    if (pool.get(toHex(candidate.id)) !== undefined) continue;
    const { refusal, newestRingMember } = readmitTransaction(candidate, context, { keptByBlock: true });
    if (refusal !== undefined) {
      setAside.add(candidate);
      continue;
    }
    const row: PoolTransaction = {
      ...usedBlock(parts, newestRingMember),
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
