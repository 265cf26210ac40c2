/**
 * Transactions as before RingCT, version 1 with public amounts: only in these can an output be spent whose amount has
 * too few decoys for a ring. Source: wallet2.cpp `transfer_selected`; cryptonote_tx_utils.cpp
 * `construct_tx_with_tx_key`.
 */
import { generateKeyDerivation, generateRingSignature, wipe } from "@anulo/crypto";
import {
  digitsOfAmount,
  type Transaction,
  type TransactionPrefix,
  transactionPrefixHash,
} from "@anulo/protocol";
import { oneTimeSecret } from "../scan/scan-transaction.ts";
import { isChange } from "./change.ts";
import type { Input, PlannedTransaction, Receiver, SigningKeys } from "./stages.ts";
import type { OutputPlan } from "./tx-keys.ts";

/**
 * Parts of the change of up to this many atomic units are added to the fee. Source: cryptonote_config.h
 * DEFAULT_DUST_THRESHOLD.
 */
const DUST_THRESHOLD = 2_000_000_000n;

/** One output for each decimal digit of the payments and of the change. Source: wallet2.cpp `digit_split_strategy`. */
export function visibleOutputsOf(planned: PlannedTransaction, change: Receiver): OutputPlan[] {
  const paid = planned.destinations.flatMap(({ spendPublic, viewPublic, isSubaddress, amount }) => {
    const receiver = {
      spendPublic,
      viewPublic,
      isSubaddress,
      isChange: isChange({ spendPublic, viewPublic }, change),
    };
    return digitsOfAmount(amount).map((digit) => ({ ...receiver, amount: digit }));
  });
  const back = digitsOfAmount(planned.change).filter((digit) => digit > DUST_THRESHOLD);
  return [...paid, ...back.map((amount) => ({ ...change, amount, isChange: true }))];
}

/** Adds a ring signature for each input to the transaction. */
export function withRingSignatures(
  prefix: TransactionPrefix,
  inputs: readonly Input[],
  { keys, random }: Pick<SigningKeys, "keys" | "random">,
): Transaction {
  const prefixHash = transactionPrefixHash({ prefix });
  const signatures = inputs.map(({ output, ring: { members, realIndex } }) => {
    const derivation = generateKeyDerivation(output.txPublicKey, keys.viewSecret);
    const secretKey = oneTimeSecret(keys, { derivation, ...output });
    try {
      const publicKeys = members.map(({ key }) => key);
      const statement = { prefixHash, keyImage: output.keyImage!, publicKeys };
      return generateRingSignature(statement, { secretKey, realIndex }, random);
    } finally {
      wipe(derivation, secretKey);
    }
  });
  return { prefix, signatures, ringct: undefined };
}
