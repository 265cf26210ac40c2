/**
 * What a view-only wallet builds from a ringed transaction: a set to be signed elsewhere, and a preview of the result.
 */
import {
  generateKeyDerivation,
  IDENTITY,
  publicKeyOf,
  type RandomSource,
  randomScalar,
  wipe,
} from "@anulo/crypto";
import { encryptedPaymentId, parseExtra, paymentIdNonce, writeExtra } from "@anulo/protocol";
import { oneTimeSecret } from "../scan/scan-transaction.ts";
import type { SpendKeys, ViewKeys } from "../state.ts";
import type { ConstructionData, PendingTransaction } from "../transfer/metadata.ts";
import type { RingedTransaction } from "../transfer/stages.ts";
import { cryptPaymentId } from "../transfer/tx-keys.ts";

/** A transaction and keys that match each other, so that it can be "signed" without the spend key. */
export type Preview = { readonly ringed: RingedTransaction; readonly keys: SpendKeys };

/**
 * The same transaction with placeholders for all values that only the spend key yields: it has the right size and
 * weight, and no node accepts it.
 */
export function previewOf(ringed: RingedTransaction, keys: ViewKeys, random: RandomSource): Preview {
  const standIn = { ...keys, spendSecret: randomScalar(random) };
  const rings = ringed.rings.map(({ members, realIndex }, i) => {
    const output = ringed.inputs[i]!;
    const derivation = generateKeyDerivation(output.txPublicKey, keys.viewSecret);
    const key = publicKeyOf(oneTimeSecret(standIn, { derivation, ...output }));
    wipe(derivation);
    return { realIndex, members: members.with(realIndex, { ...members[realIndex]!, key }) };
  });
  const inputs = ringed.inputs.map((output) => ({ ...output, keyImage: IDENTITY }));
  return { keys: standIn, ringed: { ...ringed, inputs, rings } };
}

/**
 * Construction data for the signer, which generates its own transaction keys: the payment id is decrypted in it.
 * Source: wallet2.cpp `get_construction_data_with_decrypted_short_payment_id`.
 */
export function forSigner({ constructionData, destinations, txKey }: PendingTransaction): ConstructionData {
  const fields = parseExtra(constructionData.extra);
  const encrypted = encryptedPaymentId(fields);
  const receiver = destinations[0]?.viewPublic;
  if (encrypted === undefined || receiver === undefined) return constructionData;
  const nonce = paymentIdNonce(cryptPaymentId(encrypted, receiver, txKey));
  const extra = writeExtra([...fields.filter(({ type }) => type !== "nonce"), nonce]);
  return { ...constructionData, extra };
}
