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
  keyImagesOf,
  NULL_HASH,
  readTransaction,
  toHex,
  transactionHash,
  transactionWeight,
} from "@anulo/protocol";
import type { PoolTransaction, RelayPhase } from "@anulo/storage";
import { createOnce, type Once } from "../chain/once.ts";
import { type ChainParts, transact } from "../chain/parts.ts";
import { dropFromPool } from "./maintain.ts";
import { promote } from "./relay-phase.ts";
import { NEVER } from "./return-to-pool.ts";

/** A transaction somebody sends. */
export interface Submission {
  readonly blob: Uint8Array;
  /** Keep it here and tell no peer. */
  readonly doNotRelay: boolean;
  /** How far it has been told where it comes from; left out: `local`. */
  readonly phase?: RelayPhase;
  /** When to tell it on (Unix seconds), where that is to wait. */
  readonly relayAt?: number;
}

/** A transaction entered the pool, was known but is told more widely than before, or was in pool or chain before. */
export type AdmissionOutcome = "added" | "promoted" | "known";

/** Takes a transaction into the pool; rejects with RuleViolation when it breaks a rule. */
export async function admit(parts: ChainParts, submission: Submission): Promise<AdmissionOutcome> {
  const judged: Judged = { candidate: readCandidate(submission.blob), submission, once: createOnce() };
  const { candidate } = judged;
  const outcome = await parts.proofs.settle(() => tryToAdmit(parts, judged));
  await dropCheapest(parts);
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

/** What the rules say of a transaction the chain does not have, and the id of the block `newestRingMember` is in. */
interface Judgement {
  readonly admission: Admission;
  readonly newestBlock: Uint8Array;
}

/** A transaction on its way in; looked at again only where chain or pool have changed since. */
interface Judged {
  readonly candidate: TransactionCandidate;
  readonly submission: Submission;
  readonly once: Once<Judgement | "in chain">;
}

function judge({ store, state, pool, now }: ChainParts, candidate: TransactionCandidate) {
  if (store.read.transaction(candidate.id) !== undefined) return "in chain";
  const view = state.view();
  const admission = admitTransaction(candidate, pool, chainContext(view, now()));
  const newestBlock = admission.refusal === undefined ? view.blockId(admission.newestRingMember) : NULL_HASH;
  return { admission, newestBlock };
}

/** Source: tx_pool.cpp `add_tx`. */
function tryToAdmit(parts: ChainParts, { candidate, submission, once }: Judged): AdmissionOutcome {
  const { pool, state, proofs } = parts;
  const key = toHex(candidate.id);
  const waiting = pool.get(key);
  if (waiting !== undefined) return promote(parts, waiting, submission) ? "promoted" : "known";
  const judgement = once([state.view(), pool.cookie], () => judge(parts, candidate));
  if (judgement === "in chain") return "known";
  if (pool.hasExpired(key)) throw new RuleViolation({ code: "EXPIRED" });
  const { admission } = judgement;
  proofs.demand(admission.obligations);
  if (admission.refusal !== undefined) {
    if (admission.refusal.violation.code === "KEY_IMAGE_IN_POOL") markDoubleSpend(parts, candidate);
    throw admission.refusal;
  }
  const row = rowOf({ candidate, submission, judgement, receiveTime: parts.now() });
  transact(parts, (writer) => pool.add(writer, candidate.id, row, candidate.transaction.prefix));
  return "added";
}

/** Drops the transactions that pay least while the pool is too heavy, but none of a block. */
async function dropCheapest(parts: ChainParts): Promise<void> {
  const { pool } = parts;
  if (pool.totalWeight <= pool.maxWeight) return;
  let excess = pool.totalWeight - pool.maxWeight;
  const cheapest: string[] = [];
  for (const { key, row } of pool.cheapestFirst()) {
    if (excess <= 0) break;
    if (row.keptByBlock) continue;
    cheapest.push(key);
    excess -= row.weight;
  }
  await dropFromPool(parts, cheapest);
}

interface Admitted extends Omit<Judged, "once"> {
  readonly judgement: Judgement;
  /** Unix seconds. */
  readonly receiveTime: number;
}

function rowOf({ candidate, submission, judgement, receiveTime }: Admitted): PoolTransaction {
  const { newestRingMember, fee } = judgement.admission;
  const { blob, doNotRelay, phase = "local", relayAt } = submission;
  return {
    weight: candidate.weight,
    fee,
    receiveTime,
    lastRelayedTime: relayAt === undefined ? NEVER : BigInt(relayAt),
    maxUsedBlockHeight: newestRingMember,
    maxUsedBlockHash: judgement.newestBlock,
    lastFailedHeight: 0,
    lastFailedHash: NULL_HASH,
    keptByBlock: false,
    relayed: phase !== "local",
    doNotRelay,
    doubleSpendSeen: false,
    phase,
    blob,
  };
}

/** Tells the pool's own transactions that another one spends the same. Source: tx_pool.cpp `mark_double_spend`. */
function markDoubleSpend(parts: ChainParts, { transaction }: TransactionCandidate): void {
  const { pool } = parts;
  const rivals = keyImagesOf(transaction.prefix).flatMap((image) => [...pool.spendersOf(toHex(image))]);
  const unmarked = rivals.filter((key) => pool.get(key)?.row.doubleSpendSeen === false);
  if (unmarked.length === 0) return;
  transact(parts, (writer) => {
    for (const key of unmarked) pool.update(writer, key, { doubleSpendSeen: true });
  });
}
