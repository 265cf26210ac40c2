import { absoluteOffsets, isMinerTransaction, type Transaction } from "@anulo/protocol";
import { RuleViolation } from "../violations.ts";
import { keyInputs } from "./candidate.ts";

/** On chains with fewer mature RingCT outputs than this, transactions are not checked. */
const MIN_CHAIN_OUTPUTS = 10_000n;
/** Transactions with at most this many ring members are not checked. */
const MIN_MEMBERS = 10;

/**
 * The rings of a transaction must look like a wallet's: at most a fifth of the members repeated, their median in the
 * newest 40% of the `matureOutputs` RingCT outputs. This helps senders; it is no rule of consensus. Source:
 * tx_sanity_check.cpp.
 */
export function checkSanity(transaction: Transaction, matureOutputs: bigint): void {
  if (isMinerTransaction(transaction)) throw new RuleViolation({ code: "SANITY", reason: "coinbase" });
  const hidden = keyInputs(transaction).filter(({ amount }) => amount === 0n);
  const members = hidden.flatMap(({ keyOffsets }) => absoluteOffsets(keyOffsets));
  if (members.length <= MIN_MEMBERS || matureOutputs < MIN_CHAIN_OUTPUTS) return;
  const unique = sortedUnique(members);
  if (unique.length < Math.floor((members.length * 8) / 10)) {
    throw new RuleViolation({ code: "SANITY", reason: "repeated members" });
  }
  if (medianOf(unique) < (matureOutputs * 6n) / 10n) {
    throw new RuleViolation({ code: "SANITY", reason: "old members" });
  }
}

/** A sender may list half a million members: a typed array sorts them in milliseconds, a Set does not. */
function sortedUnique(members: readonly bigint[]): BigUint64Array {
  const sorted = BigUint64Array.from(members).sort();
  return sorted.filter((member, i) => i === 0 || member !== sorted[i - 1]);
}

function medianOf(sorted: BigUint64Array): bigint {
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2n;
}
