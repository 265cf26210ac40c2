import {
  baseReward,
  dynamicBaseFee,
  forkRules,
  isFeeEnough,
  isFeePerByte,
  neededFee,
  sumAmounts,
} from "@anulo/protocol";
import type { PoolView } from "./chain-view.ts";
import { MAX_POOL_EXTRA_SIZE } from "./constants.ts";
import type { Obligation } from "./obligations.ts";
import { type ChainContext, keyInputs, type TransactionCandidate } from "./transaction/candidate.ts";
import { checkOutputs, checkOutputTypes } from "./transaction/outputs.ts";
import {
  checkAlone,
  checkFormOfInputs,
  checkInputs,
  checkWeightLimit,
  type VerifiedTransaction,
} from "./verify-transaction.ts";
import { RuleViolation } from "./violations.ts";

/**
 * The pool's decision about a transaction: the first obligation that fails is the reason of its refusal; if all hold,
 * `refusal` is; if that is undefined, the transaction may enter.
 */
export interface Admission extends VerifiedTransaction {
  refusal: RuleViolation | undefined;
  /** Atomic units; 0n if a refusal came before it was computed. */
  fee: bigint;
}

/**
 * Judges a transaction by the rules of the pool, then on its own, then against the chain. The order determines the
 * flags of `/send_raw_transaction`: it is the order of the original, as observed in 0.18.5.3. Source: tx_pool.cpp
 * `add_tx`.
 */
export function admitTransaction(
  candidate: TransactionCandidate,
  pool: PoolView,
  context: ChainContext,
): Admission {
  const admission = emptyAdmission();
  try {
    checkBeforeInputs(admission, { candidate, pool, context });
    addInputs(admission, checkInputs(candidate, context));
  } catch (error) {
    if (!(error instanceof RuleViolation)) throw error;
    admission.refusal = error;
  }
  return admission;
}

/** Whether a transaction breaks a rule that is checked before its rings and key images are looked up in the chain. */
export function isRefusedBeforeRings(
  candidate: TransactionCandidate,
  pool: PoolView,
  context: ChainContext,
): boolean {
  try {
    checkBeforeInputs(emptyAdmission(), { candidate, pool, context });
    const { transaction } = candidate;
    checkFormOfInputs(transaction, keyInputs(transaction), context.chain);
    return false;
  } catch (error) {
    if (!(error instanceof RuleViolation)) throw error;
    return true;
  }
}

/**
 * The obligations of a transaction that spends the same as one of the pool; undefined if it breaks another rule too.
 */
export function doubleSpendObligations(
  candidate: TransactionCandidate,
  context: ChainContext,
): readonly Obligation[] | undefined {
  const { refusal, obligations } = admitTransaction(candidate, { isKeyImageInPool: () => false }, context);
  return refusal === undefined ? obligations : undefined;
}

/** The pool's decision about a transaction that returns to it. */
export interface Readmission {
  refusal: RuleViolation | undefined;
  /** Height of the newest block with any ring member; 0 if the inputs do not fit the chain. */
  newestRingMember: number;
}

/**
 * Judges a transaction, proven before, that returns to the pool: one that waited there when the hard fork changed or,
 * `keptByBlock`, one of a removed block. The latter may pay any fee, and its inputs may fit again later. Source:
 * tx_pool.cpp `add_tx`, `validate`.
 */
export function readmitTransaction(
  candidate: TransactionCandidate,
  context: ChainContext,
  { keptByBlock }: { keptByBlock: boolean },
): Readmission {
  const version = context.chain.hardForkVersion;
  try {
    if (!keptByBlock) checkFee(candidate, feeOf(candidate), context);
    if (isFeePerByte(version)) checkWeightLimit(candidate, version);
    checkOutputs(candidate, version);
    checkOutputTypes(candidate.transaction, version);
  } catch (error) {
    if (!(error instanceof RuleViolation)) throw error;
    return { refusal: error, newestRingMember: 0 };
  }
  try {
    return { refusal: undefined, newestRingMember: checkInputs(candidate, context).newestRingMember };
  } catch (error) {
    if (!(error instanceof RuleViolation)) throw error;
    return { refusal: keptByBlock ? undefined : error, newestRingMember: 0 };
  }
}

const emptyAdmission = (): Admission => ({
  obligations: [],
  newestRingEnd: 0,
  newestRingMember: 0,
  refusal: undefined,
  fee: 0n,
});

/** All that needs no row of the chain. Throws RuleViolation. */
function checkBeforeInputs(
  admission: Admission,
  {
    candidate,
    pool,
    context,
  }: {
    readonly candidate: TransactionCandidate;
    readonly pool: PoolView;
    readonly context: ChainContext;
  },
): void {
  admission.fee = feeOf(candidate);
  checkFee(candidate, admission.fee, context);
  checkPoolForm(candidate);
  checkNotSpentInPool(candidate, pool);
  admission.obligations = checkAlone(candidate, context.chain.hardForkVersion);
}

function addInputs(admission: Admission, { obligations, ...facts }: VerifiedTransaction): void {
  const all: Obligation[] = [...admission.obligations, ...obligations];
  Object.assign(admission, facts, { obligations: all });
}

/** Fee (atomic units) of a transaction that spends no less than it pays. */
export function feeOf({ transaction }: Pick<TransactionCandidate, "transaction">): bigint {
  const { ringct, prefix } = transaction;
  if (ringct !== undefined) return ringct.type === 0 ? 0n : ringct.fee;
  return sumAmounts(keyInputs(transaction)) - sumAmounts(prefix.outputs);
}

/** Fee (atomic units) per byte, or per kB before hard fork 8, that the next block requires. */
export function baseFee({ chain, limits }: ChainContext): bigint {
  const version = chain.hardForkVersion;
  const isLongTerm = forkRules(version).weight !== "short";
  const medianWeight = isLongTerm
    ? Math.min(limits.effectiveMedian, limits.longTermEffectiveMedian)
    : limits.effectiveMedian;
  const reward = baseReward({ alreadyGenerated: chain.alreadyGenerated, version });
  return dynamicBaseFee({ reward, medianWeight, version });
}

/** The fee must pay for the weight, with 2% of leeway. Source: blockchain.cpp `check_fee`. */
function checkFee({ weight }: TransactionCandidate, fee: bigint, context: ChainContext): void {
  const version = context.chain.hardForkVersion;
  const needed = neededFee({ weight, baseFee: baseFee(context), version });
  if (!isFeeEnough(fee, needed)) throw new RuleViolation({ code: "FEE_TOO_LOW", fee, needed });
}

/**
 * Pool transactions may have no more data than wallets write, and no unlock time: others are valid in blocks, but are
 * not accepted here. Source: tx_pool.cpp `add_tx` (#8784, #9311).
 */
function checkPoolForm({ transaction: { prefix } }: TransactionCandidate): void {
  const size = prefix.extra.length;
  if (size > MAX_POOL_EXTRA_SIZE)
    throw new RuleViolation({ code: "EXTRA_TOO_BIG", size, limit: MAX_POOL_EXTRA_SIZE });
  const { unlockTime } = prefix;
  if (unlockTime !== 0n) throw new RuleViolation({ code: "UNLOCK_TIME_SET", unlockTime });
}

function checkNotSpentInPool({ transaction }: TransactionCandidate, pool: PoolView): void {
  const input = keyInputs(transaction).findIndex(({ keyImage }) => pool.isKeyImageInPool(keyImage));
  if (input !== -1) throw new RuleViolation({ code: "KEY_IMAGE_IN_POOL", input });
}
