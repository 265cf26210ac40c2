/** Stores transactions, then sends them to the node. */
import {
  encryptedPaymentId,
  keyImagesOf,
  parseExtra,
  sumAmounts,
  toHex,
  transactionHash,
  writeTransaction,
} from "@anulo/protocol";
import type { KeptPayment } from "../changes.ts";
import { WalletRefusal } from "../refusal.ts";
import type { IntentHead, OutgoingPayment } from "../state.ts";
import type { PendingTransaction } from "../transfer/metadata.ts";
import { isKnownTo, type Relay } from "../transfer/node.ts";
import { cryptPaymentId } from "../transfer/tx-keys.ts";
import { isKeptElsewhere } from "../transfer/unknown-tx-key.ts";
import type { Wallet } from "../wallet.ts";
import { rejected } from "./send-again.ts";

export type SubmitParts = {
  readonly wallet: Wallet;
  readonly relay: Relay;
  /** Returns the address of a destination as text. */
  readonly addressOf: (destination: PendingTransaction["destinations"][number]) => string;
};

/** The payment id of the transaction, decrypted: 32 bytes, of which it fills the first 8. */
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

/** The record that the wallet stores of a transaction it created. */
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

/** The call that sends, and its response. */
export type Submission = {
  readonly intent: IntentHead;
  /** The compressed response once all of it is sent; undefined if no call can repeat it. */
  readonly answer: Uint8Array | undefined;
  /**
   * Turns errors of the node, or of an unreachable node, into those of the call; if left out, they are returned as they
   * are.
   */
  readonly refuseAs?: ((refusal: WalletRefusal) => WalletRefusal) | undefined;
};

/**
 * Adds to an error, as text and as data, the transactions that were sent or may have been, so that no caller pays again
 * without checking.
 */
export function alsoSaying(refusal: WalletRefusal, ids: readonly string[], what: string): WalletRefusal {
  if (ids.length === 0) return refusal;
  const text = what === "" ? refusal.message : `${refusal.message}; ${what}`;
  return new WalletRefusal(refusal.kind, text, { tx_hash_list: [...ids] });
}

/** Text about transactions that may have been sent, when the node's response to one of them is lost. */
function mayBeSent(ids: readonly string[]): string {
  if (ids.length === 1) return `transaction ${ids[0]} may have been sent, is kept and will be sent again`;
  return `transactions ${ids.join(", ")} may have been sent, are kept and will be sent again`;
}

const sentBefore = (ids: readonly string[]): string =>
  ids.length === 0 ? "" : `sent before it: ${ids.join(", ")}`;

/**
 * Stores the transactions, their keys and the response durably, in one step, then relays them one after the other: a
 * crash in between loses nothing. A transaction that the node rejects, does not have, and that was never sent before is
 * deleted, with those after it; if the node's response is unknown all stay stored. Returns their ids (hexadecimal).
 * Throws `WalletRefusal`, which lists the transactions that may have been sent.
 */
export async function submitEach(
  pending: readonly PendingTransaction[],
  parts: SubmitParts,
  submission: Submission,
): Promise<string[]> {
  const { wallet } = parts;
  const { intent, answer } = submission;
  const all = pending.map((each) => keptOf(each, parts));
  const fresh = new Map(
    all.filter(({ id }) => !wallet.state.outgoing.has(id)).map((each) => [each.id, each]),
  );
  const ids = all.map(({ id }) => id);
  const outcome = { kind: "sending", txHashes: all.map(({ payment }) => payment.txHash), answer } as const;
  const payments = [...fresh.values()].map(keptPart);
  if (fresh.size > 0 || answer !== undefined)
    await wallet.commit({ kind: "intent", intent, outcome, payments }).catch(namingAll(ids));
  for (const [place, each] of all.entries()) await giveTo(parts, submission, { all, fresh, place, each });
  return ids;
}

/**
 * After a failed write it is unknown which transactions are on disk and will be sent once the wallet is opened again.
 */
const namingAll =
  (ids: readonly string[]) =>
  (error: unknown): never => {
    throw error instanceof WalletRefusal ? alsoSaying(error, ids, "") : error;
  };

type Kept = KeptPayment & { readonly id: string };
type Giving = {
  readonly all: readonly Kept[];
  /** Transactions that no earlier call had stored. */
  readonly fresh: ReadonlyMap<string, Kept>;
  readonly place: number;
  readonly each: Kept;
};

/** Relays one of several transactions, once those before it are sent. */
async function giveTo(
  { wallet, relay }: SubmitParts,
  { intent, refuseAs = (refusal) => refusal }: Submission,
  { all, fresh, place, each }: Giving,
): Promise<void> {
  const ids = all.map(({ id }) => id);
  const sent = ids.slice(0, place);
  wallet.checkWritten();
  const { sending } = wallet.runtime;
  const verdict = await relay(each.payment.blob!).catch((error: unknown) => {
    sending.unanswered++;
    throw error instanceof WalletRefusal ? refuseAs(alsoSaying(error, ids, mayBeSent(ids))) : error;
  });
  const isTaken = verdict.accepted || (await nodeHas(wallet, each.id));
  sending[isTaken ? "sent" : "refused"]++;
  if (isTaken) return await wallet.markRelayed(each.payment.txHash).catch(namingAll(ids));
  const wasKept = !fresh.has(each.id) || sent.includes(each.id);
  // A transaction that an earlier call stored may have been sent in spite of this rejection.
  const refusal = refuseAs(alsoSaying(rejected(verdict.reason), wasKept ? ids : sent, sentBefore(sent)));
  if (!wasKept) {
    const { kind, message } = refusal;
    const txHashes = all.slice(0, place).map(({ payment }) => payment.txHash);
    const unsent = ids.slice(place).filter((id) => fresh.has(id) && !sent.includes(id));
    const outcome = { kind: "refused", txHashes, refusal: kind, message } as const;
    await wallet.commit({ kind: "intent", intent, outcome, unsent }).catch(namingAll(ids));
  }
  throw refusal;
}

/**
 * Whether a transaction spends outputs of this wallet: by its key images, or, where the wallet lacks those of its
 * outputs, by the outputs that it was built from.
 */
export function spendsOwn(
  { state: { outputs } }: Wallet,
  { transaction, constructionData }: PendingTransaction,
): boolean {
  const isOwn = (image: Uint8Array) => outputs.placeOfImage(image) !== undefined;
  if (keyImagesOf(transaction.prefix).some(isOwn)) return true;
  return constructionData.sources.some(({ outputs: members, realOutput }) => {
    const spent = members[Number(realOutput)];
    const output = spent && outputs.withKey(spent.key);
    return output !== undefined && output.keyImage === undefined;
  });
}

/**
 * Relays a transaction that spends nothing of this wallet. Nothing of it is stored but the response: as a payment of
 * the wallet its change would count as ours. Throws `WalletRefusal`.
 */
export async function relayForeign(
  { transaction }: PendingTransaction,
  { wallet, relay }: Pick<SubmitParts, "wallet" | "relay">,
  { intent, answer }: Submission,
): Promise<void> {
  const txHash = transactionHash(transaction);
  const { accepted, reason } = await relay(writeTransaction(transaction));
  if (!accepted && !(await nodeHas(wallet, toHex(txHash)))) throw rejected(reason);
  const outcome = { kind: "sending", txHashes: [txHash], answer } as const;
  if (answer !== undefined) await wallet.commit({ kind: "intent", intent, outcome });
}

/**
 * Whether the node has a transaction (id in hexadecimal) that it has rejected just now, as a double spend of itself: it
 * was mined meanwhile, or came a second time, from an older copy of this wallet or by a repeated request. Callers that
 * were told it failed would pay again.
 */
async function nodeHas({ daemon }: Wallet, id: string): Promise<boolean> {
  try {
    return await isKnownTo(daemon, id);
  } catch (error) {
    if (!(error instanceof WalletRefusal)) throw error;
    return false;
  }
}

const keptPart = ({ payment, txKeys }: Kept): KeptPayment => ({ payment, txKeys });

function keptOf(pending: PendingTransaction, parts: SubmitParts): Kept {
  const keepsKeys = parts.wallet.preferences.keepsTxInfo;
  const txKeys = keepsKeys ? [pending.txKey, ...pending.additionalTxKeys] : [];
  const payment = paymentOf(pending, parts);
  return { id: toHex(payment.txHash), payment, txKeys };
}
