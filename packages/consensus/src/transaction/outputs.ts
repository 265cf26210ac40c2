import {
  forkRules,
  isDecomposedAmount,
  outputKey,
  ringCtTypes,
  type Transaction,
  type TransactionPrefix,
  toHex,
} from "@anulo/protocol";
import { RuleViolation } from "../violations.ts";
import type { TransactionCandidate } from "./candidate.ts";

/**
 * Keys (32 bytes each) of the outputs, which all pay to a key; version 1 amounts are not 0.
 * Source: cryptonote_format_utils.cpp `check_outs_valid`.
 */
export function checkOutputKeys({ prefix }: Transaction): Uint8Array[] {
  return prefix.outputs.map((output, i) => {
    const key = outputKey(output);
    if (key === undefined) throw new RuleViolation({ code: "OUTPUT_TARGET", output: i });
    if (prefix.version === 1 && output.amount === 0n) {
      throw new RuleViolation({ code: "OUTPUT_AMOUNT_ZERO", output: i });
    }
    return key;
  });
}

/**
 * Index of the first output whose type the fork forbids, or -1: from hard fork 16 only tagged keys are allowed, in 15
 * either kind but not both, before that plain keys. Source: cryptonote_format_utils.cpp `check_output_types`.
 */
export function forbiddenOutputType({ outputs }: TransactionPrefix, version: number): number {
  const { outputTypes } = forkRules(version);
  const allowed = (type: string) => {
    if (outputTypes === "tagged") return type === "taggedKey";
    if (outputTypes === "plain") return type === "key";
    return (type === "key" || type === "taggedKey") && type === outputs[0]!.target.type;
  };
  return outputs.findIndex(({ target }) => !allowed(target.type));
}

/** Every output must have a type that the fork allows. */
export function checkOutputTypes({ prefix }: Transaction, version: number): void {
  const output = forbiddenOutputType(prefix, version);
  if (output !== -1) throw new RuleViolation({ code: "OUTPUT_TYPE", output });
}

/**
 * Two MLSAG transactions mined after hard fork 13, which had been in pools since before. Source: blockchain.cpp
 * `check_tx_outputs`.
 */
const grandfathered = new Set([
  "c5151944f0583097ba0c88cd0f43e7fabb3881278aa2f73b3b0a007c5d34e910",
  "6f2f117cde6fbcf8d4a6ef8974fcac744726574ac38cf25d3322c996b21edd4c",
]);

/** True when the fork accepts this RingCT type in a transaction with this id (32 bytes). */
function isRingCtTypeAllowed(type: number, version: number, id: Uint8Array): boolean {
  const isLate = type === 4 && version > 13;
  return forkRules(version).ringCtTypes.includes(type) || (isLate && grandfathered.has(toHex(id)));
}

/**
 * Outputs must fit the fork: version 1 amounts are one digit and zeros (2), RingCT hides amounts (3) and is of a type
 * of its time. Source: blockchain.cpp `check_tx_outputs`.
 */
export function checkOutputs({ transaction, id }: TransactionCandidate, version: number): void {
  checkVisibleAmounts(transaction.prefix, version);
  const { ringct } = transaction;
  // A transaction without hidden amounts is judged by `checkRingCt`.
  if (ringct === undefined || ringct.type === ringCtTypes.none) return;
  if (!isRingCtTypeAllowed(ringct.type, version, id)) {
    throw new RuleViolation({ code: "RINGCT_TYPE", type: ringct.type, hardFork: version });
  }
}

function checkVisibleAmounts(prefix: TransactionPrefix, version: number): void {
  const { amounts } = forkRules(version);
  for (const [output, { amount }] of prefix.outputs.entries()) {
    if (prefix.version === 1 && amounts !== "any" && !isDecomposedAmount(amount)) {
      throw new RuleViolation({ code: "OUTPUT_NOT_DECOMPOSED", output, amount });
    }
    if (prefix.version >= 2 && amounts === "hidden" && amount !== 0n) {
      throw new RuleViolation({ code: "OUTPUT_AMOUNT_VISIBLE", output, amount });
    }
  }
}
