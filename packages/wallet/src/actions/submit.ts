/** Keeps a transaction, then gives it to the node. */
import {
  encryptedPaymentId,
  keyImagesOf,
  parseExtra,
  sumAmounts,
  toHex,
  transactionHash,
  writeTransaction,
} from "@anulo/protocol";
import { WalletRefusal } from "../refusal.ts";
import type { OutgoingPayment } from "../state.ts";
import type { PendingTransaction } from "../transfer/metadata.ts";
import type { Relay } from "../transfer/node.ts";
import { cryptPaymentId } from "../transfer/tx-keys.ts";
import { isKeptElsewhere } from "../transfer/unknown-tx-key.ts";
import type { Wallet } from "../wallet.ts";

export type SubmitParts = {
  readonly wallet: Wallet;
  readonly relay: Relay;
  /** Text of a destination's address. */
  readonly addressOf: (destination: PendingTransaction["destinations"][number]) => string;
};

/** The payment id the transaction carries, readable: 32 bytes of which it fills the first 8. */
function paymentIdOf({ transaction, destinations, txKey, constructionData }: PendingTransaction): Uint8Array {
  const paymentId = new Uint8Array(32);
  if (isKeptElsewhere([txKey])) {
    paymentId.set(encryptedPaymentId(parseExtra(constructionData.extra)) ?? []);
    return paymentId;
  }
  const encrypted = encryptedPaymentId(parseExtra(transaction.prefix.extra));
  const receiver = destinations[0]?.viewPublic;
  if (encrypted && receiver) paymentId.set(cryptPaymentId(encrypted, receiver, txKey));
  return paymentId;
}

/** What the wallet remembers of a transaction it made. */
function paymentOf(pending: PendingTransaction, { wallet, addressOf }: SubmitParts): OutgoingPayment {
  const { transaction, constructionData, fee, change } = pending;
  const destinations = wallet.preferences.keepsTxInfo ? pending.destinations : [];
  const amountIn = sumAmounts(constructionData.sources);
  const createdAt = wallet.now().seconds;
  return {
    txHash: transactionHash(transaction),
    state: "signed",
    blob: writeTransaction(transaction),
    amountIn,
    amountOut: amountIn - fee,
    change: change.amount,
    destinations: destinations.map((to) => ({ address: addressOf(to), amount: to.amount })),
    paymentId: wallet.preferences.keepsTxInfo ? paymentIdOf(pending) : new Uint8Array(32),
    account: constructionData.account,
    subaddressIndices: constructionData.subaddressIndices,
    keyImages: keyImagesOf(transaction.prefix),
    unlockTime: transaction.prefix.unlockTime,
    createdAt,
    timestamp: createdAt,
    height: 0,
  };
}

/** A refusal that also says what has left, or may have, so that nobody pays again without a look. */
function alsoSaying(error: unknown, what: string): unknown {
  return error instanceof WalletRefusal ? new WalletRefusal(error.kind, `${error.message}; ${what}`) : error;
}

/**
 * Keeps the transaction and its keys durably, then relays it: a crash in between loses nothing. A refusal by the node
 * forgets it again; where the node's answer is unknown it stays kept, and the refusal names it. Throws `WalletRefusal`.
 */
export async function submit(pending: PendingTransaction, parts: SubmitParts): Promise<Uint8Array> {
  const { wallet, relay } = parts;
  const payment = paymentOf(pending, parts);
  const { txHash } = payment;
  const isNew = !wallet.state.outgoing.has(toHex(txHash));
  const txKeys = wallet.preferences.keepsTxInfo ? [pending.txKey, ...pending.additionalTxKeys] : [];
  if (isNew) await wallet.recordOutgoing(payment, txKeys);
  const { accepted, reason } = await relay(writeTransaction(pending.transaction)).catch((error: unknown) => {
    throw alsoSaying(error, `transaction ${toHex(txHash)} may have been sent, and is kept`);
  });
  if (accepted) {
    await wallet.markRelayed(txHash);
    return txHash;
  }
  if (isNew) await wallet.discardOutgoing(txHash);
  const because = reason === "" ? "" : ` (${reason})`;
  throw new WalletRefusal("GENERIC_TRANSFER_ERROR", `transaction was rejected by daemon${because}`);
}

/** Submits one after the other; answers their ids (hexadecimal). Throws `WalletRefusal`, which names those sent before. */
export async function submitEach(
  pending: readonly PendingTransaction[],
  parts: SubmitParts,
): Promise<string[]> {
  const ids: string[] = [];
  for (const each of pending) {
    try {
      ids.push(toHex(await submit(each, parts)));
    } catch (error) {
      throw ids.length === 0 ? error : alsoSaying(error, `sent before it: ${ids.join(", ")}`);
    }
  }
  return ids;
}
