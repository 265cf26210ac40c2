import {
  type Admission,
  admitTransaction,
  chainContext,
  checkBlobSize,
  doubleSpendObligations,
  isRefusedBeforeRings,
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
import { NEVER } from "./entry.ts";
import { dropFromPool } from "./maintain.ts";
import { createMemo, type Memo } from "./once.ts";
import { type PoolParts, transact } from "./parts.ts";
import { promote } from "./relay-phase.ts";
import { rowsOfInputs } from "./rows-of-inputs.ts";

/** A transaction that was submitted, and how it is to be relayed. */
export interface Submission {
  readonly blob: Uint8Array;
  /** Keeps it here and relays it to no peer. */
  readonly doNotRelay: boolean;
  /** The phase in which its sender relayed it; `local` by default. */
  readonly phase?: RelayPhase;
  /** When to relay it (Unix seconds), if it has to wait. */
  readonly relayAt?: number;
  /**
   * Whether a stranger sent it: then it is refused by the cheapest check that fails, before any proof is checked. Other
   * callers get the rule that the original would report.
   */
  readonly isFromStranger?: boolean;
  /** Whether a caller of a restricted port sent it: what is read for it waits behind what others have read. */
  readonly isRestricted?: boolean;
}

/**
 * The transaction entered the pool, was known but is relayed more widely than before, or was in pool or chain before.
 */
export type AdmissionOutcome = "added" | "promoted" | "known";

/**
 * Adds a stranger's transaction to the pool; rejects with RuleViolation when it breaks a rule, without reading it if
 * the same bytes were refused before on the same chain.
 */
export function admitFromStranger(
  parts: PoolParts,
  submission: Omit<Submission, "isFromStranger">,
): Promise<AdmissionOutcome> {
  return parts.refusals.count("transactions", () => admitUnknown(parts, submission));
}

async function admitUnknown(
  parts: PoolParts,
  submission: Omit<Submission, "isFromStranger">,
): Promise<AdmissionOutcome> {
  const { state, refusedTransactions, proofs } = parts;
  const view = state.view();
  const refusal = proofs.measure(() => refusedTransactions.find(view, submission.blob));
  if (refusal !== undefined) throw refusal;
  try {
    return await admitCandidate(parts, { ...submission, isFromStranger: true });
  } catch (error) {
    // Results that depend on the pool change too often to be remembered, and are cheap to find again.
    const isLasting = error instanceof RuleViolation && !isSpentInPool(error);
    if (isLasting && state.view() === view) refusedTransactions.add(view, submission.blob, error);
    throw error;
  }
}

/** Adds a transaction to the pool; rejects with RuleViolation when it breaks a rule. */
export function admit(parts: PoolParts, submission: Submission): Promise<AdmissionOutcome> {
  return parts.refusals.count("transactions", () => admitCandidate(parts, submission));
}

async function admitCandidate(parts: PoolParts, submission: Submission): Promise<AdmissionOutcome> {
  const attempt: AdmissionAttempt = {
    candidate: parts.proofs.measure(() => readCandidate(submission.blob)),
    submission,
    memo: createMemo(),
  };
  const { candidate } = attempt;
  const reading = parts.proofs.measure(() => prefetchRows(parts, attempt));
  if (reading !== undefined) await reading;
  const outcome = await parts.proofs
    .runProven(() => tryToAdmit(parts, attempt))
    .catch(async (refusal: unknown) => {
      if (isSpentInPool(refusal)) await markRivals(parts, attempt);
      throw refusal;
    });
  await dropCheapest(parts);
  await parts.store.settled();
  if (outcome === "added") parts.emit({ type: "transactionAdded", id: candidate.id });
  return outcome;
}

/** Has what the rules read of the chain brought into memory, unless the transaction is refused, or known, without. */
function prefetchRows(
  { store, state, pool, now }: PoolParts,
  { candidate, submission }: AdmissionAttempt,
): Promise<void> | undefined {
  const rows = () => {
    const isKnown =
      pool.get(toHex(candidate.id)) !== undefined || store.read.transaction(candidate.id) !== undefined;
    const isOver = isKnown || isRefusedBeforeRings(candidate, pool, chainContext(state.view(), now()));
    return isOver ? {} : rowsOfInputs([candidate.transaction], { withRings: true });
  };
  const { isFromStranger = false, isRestricted = false } = submission;
  return store.prefetch(rows, { isStranger: isFromStranger || isRestricted });
}

function isSpentInPool(error: unknown): boolean {
  return error instanceof RuleViolation && error.violation.code === "KEY_IMAGE_IN_POOL";
}

/** Reads a transaction as the rules judge it; throws RuleViolation for bytes that are no transaction. */
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

/**
 * The rules' result for a transaction that is not in the chain, and the id of the block at height `newestRingMember`.
 */
interface Judgement {
  readonly admission: Admission;
  readonly newestBlock: Uint8Array;
}

/** An attempt to add a transaction; it is judged again only if chain or pool have changed since. */
interface AdmissionAttempt {
  readonly candidate: TransactionCandidate;
  readonly submission: Submission;
  readonly memo: Memo<Judgement | "in chain">;
}

function judge({ store, state, pool, now }: PoolParts, candidate: TransactionCandidate) {
  if (store.read.transaction(candidate.id) !== undefined) return "in chain";
  const view = state.view();
  const admission = admitTransaction(candidate, pool, chainContext(view, now()));
  const newestBlock = admission.refusal === undefined ? view.blockId(admission.newestRingMember) : NULL_HASH;
  return { admission, newestBlock };
}

/** Source: tx_pool.cpp `add_tx`. */
function tryToAdmit(parts: PoolParts, { candidate, submission, memo }: AdmissionAttempt): AdmissionOutcome {
  const { pool, state, proofs } = parts;
  const key = toHex(candidate.id);
  const waiting = pool.get(key);
  if (waiting !== undefined) return promote(parts, waiting, submission) ? "promoted" : "known";
  const judgement = memo([state.view(), pool.cookie], () => judge(parts, candidate));
  if (judgement === "in chain") return "known";
  if (pool.hasExpired(key)) throw new RuleViolation({ code: "EXPIRED" });
  const { admission } = judgement;
  const { refusal } = admission;
  if (submission.isFromStranger === true && refusal !== undefined) throw refusal;
  proofs.requireProven(admission.obligations);
  if (refusal !== undefined) throw refusal;
  const row = rowOf({ candidate, submission, judgement, receiveTime: parts.now() });
  transact(parts, (writer) => pool.add(writer, candidate.id, row, candidate.transaction.prefix));
  return "added";
}

/** Drops the transactions with the lowest fee rate while the pool is too heavy, except those of blocks. */
async function dropCheapest(parts: PoolParts): Promise<void> {
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

interface AdmittedTransaction extends Omit<AdmissionAttempt, "memo"> {
  readonly judgement: Judgement;
  /** Unix seconds. */
  readonly receiveTime: number;
}

function rowOf({ candidate, submission, judgement, receiveTime }: AdmittedTransaction): PoolTransaction {
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

/**
 * Transactions (ids in hexadecimal) of the pool that spend the same outputs and are not marked as double spends yet.
 */
function unmarkedRivals({ pool }: PoolParts, { transaction }: TransactionCandidate): string[] {
  const rivals = keyImagesOf(transaction.prefix).flatMap((image) => [...pool.spendersOf(toHex(image))]);
  return rivals.filter((key) => pool.get(key)?.row.doubleSpendSeen === false);
}

/**
 * Marks the pool's transactions that spend the same key images as double spent, but only by a transaction that breaks
 * no other rule and whose proofs hold, so that only the owner of the coins can make a payment look double spent.
 * Rejects with RuleViolation if a stranger's proof does not hold; other callers get the key image as the reason, as in
 * the original. Source: tx_pool.cpp `mark_double_spend`, which requires neither.
 */
async function markRivals(parts: PoolParts, { candidate, submission }: AdmissionAttempt): Promise<void> {
  const { pool, proofs, state } = parts;
  try {
    await proofs.runProven(() => {
      const rivals = unmarkedRivals(parts, candidate);
      if (rivals.length === 0) return;
      const obligations = doubleSpendObligations(candidate, chainContext(state.view(), parts.now()));
      if (obligations === undefined) return;
      proofs.requireProven(obligations);
      transact(parts, (writer) => {
        for (const key of rivals) pool.update(writer, key, { doubleSpendSeen: true });
      });
    });
  } catch (error) {
    if (submission.isFromStranger === true || !(error instanceof RuleViolation)) throw error;
  }
}
