import {
  type Admission,
  admitTransaction,
  chainContext,
  checkBlobSize,
  RuleViolation,
  type TransactionCandidate,
} from "@anulo/consensus";
import {
  BadBytes,
  NULL_HASH,
  readTransaction,
  toHex,
  transactionHash,
  transactionWeight,
} from "@anulo/protocol";
import type { PoolTransaction } from "@anulo/storage";
import { type ChainParts, transact } from "../chain/parts.ts";
import { keyImagesOf } from "../chain/stored-transaction.ts";
import { NEVER } from "./return-to-pool.ts";

/** A transaction somebody sends. */
export interface Submission {
  readonly blob: Uint8Array;
  /** Keep it here and tell no peer. */
  readonly doNotRelay: boolean;
}

/** Whether a transaction entered the pool or was in pool or chain before. */
export type AdmissionOutcome = "added" | "known";

/** Weight (bytes) above which the pool drops its cheapest transactions. Source: cryptonote_config.h. */
const MAX_POOL_WEIGHT = 648_000_000;

/** Takes a transaction into the pool; rejects with RuleViolation when it breaks a rule. */
export async function admit(parts: ChainParts, submission: Submission): Promise<AdmissionOutcome> {
  const candidate = readCandidate(submission.blob);
  const outcome = await parts.proofs.settle(() => tryToAdmit(parts, candidate, submission));
  await parts.store.settled();
  if (outcome === "added") parts.emit({ type: "transactionAdded", id: candidate.id });
  return outcome;
}

/** Reads a transaction as the rules judge it; throws RuleViolation for bytes that are none. */
function readCandidate(blob: Uint8Array): TransactionCandidate {
  checkBlobSize(blob.length);
  try {
    const transaction = readTransaction(blob);
    return {
      transaction,
      id: transactionHash(transaction),
      weight: transactionWeight(transaction, blob.length),
    };
  } catch (error) {
    if (!(error instanceof BadBytes)) throw error;
    throw new RuleViolation({ code: "MALFORMED", reason: error.message });
  }
}

function tryToAdmit(
  parts: ChainParts,
  candidate: TransactionCandidate,
  submission: Submission,
): AdmissionOutcome {
  const { pool, store, state, proofs, now } = parts;
  if (pool.get(toHex(candidate.id)) !== undefined || store.read.transaction(candidate.id) !== undefined) {
    return "known";
  }
  const view = state.view();
  const admission = admitTransaction(candidate, pool, chainContext(view, now()));
  proofs.demand(admission.obligations);
  if (admission.refusal !== undefined) {
    if (admission.refusal.violation.code === "KEY_IMAGE_IN_POOL") markDoubleSpend(parts, candidate);
    throw admission.refusal;
  }
  const row = rowOf(parts, { candidate, admission, submission });
  transact(parts, (writer) => {
    pool.add(writer, candidate.id, row);
    while (pool.totalWeight > MAX_POOL_WEIGHT) {
      const cheapest = pool.byFeeRate().findLast((entry) => !entry.row.keptByBlock);
      if (cheapest === undefined) return;
      pool.remove(writer, cheapest.key);
    }
  });
  return "added";
}

interface Admitted {
  readonly candidate: TransactionCandidate;
  readonly admission: Admission;
  readonly submission: Submission;
}

function rowOf({ state, now }: ChainParts, { candidate, admission, submission }: Admitted): PoolTransaction {
  const { newestRingMember, fee } = admission;
  const { blob, doNotRelay } = submission;
  return {
    weight: candidate.weight,
    fee,
    receiveTime: now(),
    lastRelayedTime: doNotRelay ? NEVER : BigInt(now()),
    maxUsedBlockHeight: newestRingMember,
    maxUsedBlockHash: state.view().blockId(newestRingMember),
    lastFailedHeight: 0,
    lastFailedHash: NULL_HASH,
    keptByBlock: false,
    relayed: !doNotRelay,
    doNotRelay,
    doubleSpendSeen: false,
    blob,
  };
}

/** Tells the pool's own transactions that another one spends the same. Source: tx_pool.cpp `mark_double_spend`. */
function markDoubleSpend(parts: ChainParts, { transaction }: TransactionCandidate): void {
  const { pool } = parts;
  const rivals = keyImagesOf(transaction).flatMap((image) => [...pool.spendersOf(toHex(image))]);
  const unmarked = rivals.filter((key) => pool.get(key)?.row.doubleSpendSeen === false);
  if (unmarked.length === 0) return;
  transact(parts, (writer) => {
    for (const key of unmarked) pool.update(writer, key, { doubleSpendSeen: true });
  });
}
