/** The outputs of a planned transaction and the `extra` that goes with them. */

import type { RandomSource } from "@anulo/crypto";
import { wipe } from "@anulo/crypto";
import { type ExtraField, paymentIdNonce, writeExtra } from "@anulo/protocol";
import { createKeys } from "../keys/wallet-keys.ts";
import { WalletRefusal } from "../refusal.ts";
import { isChange } from "./change.ts";
import type { PlannedTransaction, Receiver, RingedTransaction } from "./stages.ts";
import {
  cryptPaymentId,
  needsAdditionalKeys,
  type OutputPlan,
  paymentIdReceiver,
  type TxPublicKeys,
  type TxSecrets,
} from "./tx-keys.ts";
import { visibleOutputsOf } from "./visible.ts";

const NO_PAYMENT_ID = new Uint8Array(8);

/** An address with new keys that are not stored, so that its outputs can never be spent. */
export function nobody(random: RandomSource): Receiver {
  const { spendPublic, viewPublic, spendSecret, viewSecret } = createKeys(random);
  wipe(spendSecret, viewSecret);
  return { spendPublic, viewPublic, isSubaddress: false };
}

export type OtherReceivers = {
  readonly change: Receiver;
  /** Receives an output of amount 0 if there would be only one output. It counts as change, not as a payment. */
  readonly dummy: Receiver;
};

/** The destinations, then the change, or a dummy output beside a single destination. */
export function outputsOf(
  planned: PlannedTransaction & Pick<RingedTransaction, "isVisible">,
  { change, dummy }: OtherReceivers,
): OutputPlan[] {
  if (planned.isVisible === true) return visibleOutputsOf(planned, change);
  const hasChange = planned.change > 0n;
  const outputs = planned.destinations.map((destination): OutputPlan => {
    const { spendPublic, viewPublic, isSubaddress, amount } = destination;
    return {
      spendPublic,
      viewPublic,
      isSubaddress,
      amount,
      isChange: hasChange && isChange(destination, change),
    };
  });
  if (hasChange) return [...outputs, { ...change, amount: planned.change, isChange: true }];
  return outputs.length > 1 ? outputs : [...outputs, { ...dummy, amount: 0n, isChange: true }];
}

/** A payment id (8 bytes) and the view key it is encrypted for. */
type PaymentIdPlan = { readonly paymentId: Uint8Array; readonly viewPublic: Uint8Array };

/**
 * The receiver's payment id, or a dummy in transactions with at most two outputs, so that those with a payment id don't
 * stand out. Throws `WalletRefusal` if a payment id does not belong to a single receiver.
 */
function planPaymentId(
  planned: PlannedTransaction,
  outputs: readonly OutputPlan[],
  change: Receiver,
): PaymentIdPlan | undefined {
  const paymentId = planned.destinations.find(
    (destination) => destination.paymentId !== undefined,
  )?.paymentId;
  const viewPublic = paymentIdReceiver(outputs, change);
  if (viewPublic !== undefined && (paymentId !== undefined || outputs.length <= 2))
    return { paymentId: paymentId ?? NO_PAYMENT_ID, viewPublic };
  if (paymentId === undefined) return undefined;
  throw new WalletRefusal("GENERIC_TRANSFER_ERROR", "transaction was not constructed");
}

export type ExtraContext = {
  readonly change: Receiver;
  readonly secrets: TxSecrets;
  readonly publicKeys: TxPublicKeys;
};

/** Bytes of `extra`: public key, additional keys, payment id. */
export function extraOf(
  planned: PlannedTransaction,
  outputs: readonly OutputPlan[],
  context: ExtraContext,
): Uint8Array {
  const { change, secrets, publicKeys } = context;
  const { main, additional } = publicKeys;
  const fields: ExtraField[] = [{ type: "publicKey", key: main }];
  if (additional.length > 0) fields.push({ type: "additionalPublicKeys", keys: [...additional] });
  const payment = planPaymentId(planned, outputs, change);
  if (payment !== undefined)
    fields.push(paymentIdNonce(cryptPaymentId(payment.paymentId, payment.viewPublic, secrets.main)));
  return writeExtra(fields);
}

/** Placeholder of `extra`, with the length that `extraOf` will return. */
export function blankExtra(
  planned: PlannedTransaction,
  outputs: readonly OutputPlan[],
  change: Receiver,
): Uint8Array {
  const blank = new Uint8Array(32);
  const fields: ExtraField[] = [{ type: "publicKey", key: blank }];
  const needsKeys = needsAdditionalKeys(outputs.filter((output) => !output.isChange));
  if (needsKeys) fields.push({ type: "additionalPublicKeys", keys: outputs.map(() => blank) });
  if (planPaymentId(planned, outputs, change) !== undefined) fields.push(paymentIdNonce(NO_PAYMENT_ID));
  return writeExtra(fields);
}
