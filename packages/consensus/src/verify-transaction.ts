import { forkRules, isFeePerByte, type KeyInput } from "@anulo/protocol";
import type { ChainView } from "./chain-view.ts";
import { MAX_TRANSACTION_SIZE } from "./constants.ts";
import type { Obligation } from "./obligations.ts";
import { type ChainContext, keyInputs, type TransactionCandidate } from "./transaction/candidate.ts";
import {
  checkAmountOverflow,
  checkInputOrder,
  checkInputTypes,
  checkKeyImagesDiffer,
  checkRingMembersDiffer,
  checkVisibleBalance,
} from "./transaction/inputs.ts";
import { checkOutputKeys, checkOutputs, checkOutputTypes } from "./transaction/outputs.ts";
import { checkCommitmentCount, checkRingCt } from "./transaction/ringct.ts";
import {
  checkRingSizes,
  checkSpendableAge,
  checkVersion,
  newestHeight,
  resolveRing,
} from "./transaction/rings.ts";
import { signaturesToVerify } from "./transaction/signatures.ts";
import { RuleViolation } from "./violations.ts";
import { transactionWeightLimit } from "./weights.ts";

/** The obligations of a verified transaction, and facts about its rings. */
export interface VerifiedTransaction {
  /** Checks left to `discharge`, cheapest kinds first. */
  obligations: Obligation[];
  /** Height of the newest block with a ring's last member, to which the age rule and `max_used_block_height` refer. */
  newestRingEnd: number;
  /** Height of the newest block with any ring member: while that block remains, the obligations remain valid. */
  newestRingMember: number;
}

/**
 * Checks everything a transaction inside a block must satisfy, except for its proofs, which are returned. Fees are a
 * rule of the pool: a block may contain transactions that pay nothing. Throws `RuleViolation`.
 */
export function verifyTransaction(
  candidate: TransactionCandidate,
  context: ChainContext,
): VerifiedTransaction {
  const alone = verifyTransactionAlone(candidate, context.chain.hardForkVersion);
  const inputs = checkInputs(candidate, context);
  return { ...inputs, obligations: [...alone, ...inputs.obligations] };
}

/**
 * Checks what a transaction inside a block must satisfy on any chain, except for its proofs, which are returned: for
 * blocks beside the main chain. Throws `RuleViolation`.
 */
export function verifyTransactionAlone(candidate: TransactionCandidate, version: number): Obligation[] {
  if (!isFeePerByte(version)) checkBlobSize(candidate.weight);
  return checkAlone(candidate, version);
}

/**
 * The rules that need no chain, in the order of tx_verification_utils.cpp `ver_non_input_consensus`, with those of
 * cryptonote_core.cpp `check_tx_semantic` among them. Throws `RuleViolation`.
 */
export function checkAlone(candidate: TransactionCandidate, version: number): Obligation[] {
  const { transaction, id: transactionId } = candidate;
  checkKnownVersion(transaction.prefix.version, version);
  if (isFeePerByte(version)) checkWeightLimit(candidate, version);
  checkInputTypes(transaction);
  const inputs = keyInputs(transaction);
  const keys = checkOutputKeys(transaction);
  checkCommitmentCount(transaction);
  checkAmountOverflow(inputs, transaction);
  checkVisibleBalance(inputs, transaction);
  checkKeyImagesDiffer(inputs);
  checkRingMembersDiffer(inputs, version);
  checkOutputTypes(transaction, version);
  checkOutputs(candidate, version);
  const proofs = checkRingCt(candidate);
  const keyImages = inputs.map(({ keyImage }) => keyImage);
  return [
    { kind: "outputKeys", transactionId, keys },
    { kind: "keyImages", transactionId, keyImages },
    ...proofs,
  ];
}

/** The rules of inputs against a chain, in the order of blockchain.cpp `check_tx_inputs`. */
export function checkInputs(candidate: TransactionCandidate, context: ChainContext): VerifiedTransaction {
  const { transaction } = candidate;
  const { chain } = context;
  const inputs = keyInputs(transaction);
  checkFormOfInputs(transaction, inputs, chain);
  const resolved = inputs.map((input, i) => ({ input, ring: resolveRing(input, i, context) }));
  const newestRingEnd = newestHeight(resolved.map(({ ring }) => ring.at(-1)!));
  checkSpendableAge(newestRingEnd, chain);
  const newestRingMember = newestHeight(resolved.flatMap(({ ring }) => ring));
  return { obligations: signaturesToVerify(candidate, resolved), newestRingEnd, newestRingMember };
}

/** What can be told of the inputs before any member of a ring, or any key image, is looked up. Throws RuleViolation. */
export function checkFormOfInputs(
  transaction: TransactionCandidate["transaction"],
  inputs: readonly KeyInput[],
  chain: ChainView,
): void {
  checkOutputCount(transaction.prefix, chain);
  checkRingSizes(inputs, chain);
  checkVersion(transaction, inputs, chain);
  checkInputOrder(inputs, chain.hardForkVersion);
}

/**
 * A transaction may not have more bytes than this. In a block the weight is checked instead: it is no less, and before
 * it was more than the size there was no other limit. Source: cryptonote_core.cpp `handle_incoming_tx_pre`.
 */
export function checkBlobSize(size: number): void {
  if (size > MAX_TRANSACTION_SIZE) {
    throw new RuleViolation({ code: "BLOB_TOO_BIG", size, limit: MAX_TRANSACTION_SIZE });
  }
}

/** Hard fork 1 allows only version 1. Source: cryptonote_core.cpp `handle_incoming_tx_pre`. */
function checkKnownVersion(version: number, fork: number): void {
  const highest = fork === 1 ? 1 : 2;
  if (version < 1 || version > highest)
    throw new RuleViolation({ code: "TRANSACTION_VERSION", version, highest });
}

/** Source: tx_pool.cpp `add_tx`, which transactions of blocks pass too. */
export function checkWeightLimit({ weight }: TransactionCandidate, version: number): void {
  const limit = transactionWeightLimit(version);
  if (weight > limit) throw new RuleViolation({ code: "WEIGHT_ABOVE_LIMIT", weight, limit });
}

/** From hard fork 12 there must be at least two outputs. */
function checkOutputCount(prefix: TransactionCandidate["transaction"]["prefix"], chain: ChainView): void {
  const outputs = prefix.outputs.length;
  if (prefix.version >= 2 && outputs < forkRules(chain.hardForkVersion).fewestOutputs) {
    throw new RuleViolation({ code: "TOO_FEW_OUTPUTS", outputs });
  }
}
