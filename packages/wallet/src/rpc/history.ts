/** Payments, transfers, notes. Declarations: @anulo/rpc wallet/history. */
import { mapSliced, runSliced, TimeSlice } from "@anulo/limits";
import { fromHex, MAX_BLOCK_NUMBER, toHex } from "@anulo/protocol";
import { Drawn, wallet as declared, implementFor, type ParamsOf } from "@anulo/rpc";
import {
  type HistoryContext,
  type Listed,
  listIncoming,
  listOutgoing,
  listPool,
  listUnconfirmed,
  receiversOf,
  type Transfer,
  type TransferFilter,
  type TransferList,
  transferListOf,
  transferOf,
  transfersOf,
} from "../history/transfers.ts";
import { costOf } from "../ledger/text-room.ts";
import { type ListedOutput, listOutputs, type OutputFilter } from "../outputs/listed-outputs.ts";
import type { OwnedOutput } from "../outputs/owned-output.ts";
import { retryWhenMoved } from "../outputs/walk.ts";
import { joined, Selected } from "../packed/records.ts";
import type { SelectedReceipts } from "../packed/selected-receipts.ts";
import { WalletRefusal } from "../refusal.ts";
import type { WalletContext } from "../service.ts";
import type { IncomingPayment } from "../state.ts";
import { isUnlocked, type Now } from "../unlock.ts";
import type { Wallet } from "../wallet.ts";
import { parseKeyImage, parseTxHash } from "./parse-hex.ts";
import { rememberedPatiently } from "./remembered.ts";

function describeTransfer(wallet: Wallet, transfer: Transfer) {
  const { destinations } = transfer;
  return {
    address: wallet.addressOf(transfer.subaddress),
    amount: transfer.amount,
    amounts: [...transfer.amounts],
    confirmations: transfer.confirmations,
    destinations: destinations?.map(({ amount, address }) => ({ amount, address })),
    double_spend_seen: transfer.doubleSpendSeen,
    fee: transfer.fee,
    height: transfer.height,
    locked: transfer.locked,
    note: wallet.state.notes.get(transfer.txHash) ?? "",
    payment_id: transfer.paymentId,
    subaddr_index: transfer.subaddress,
    subaddr_indices: [...transfer.subaddresses],
    suggested_confirmations_threshold: transfer.suggestedConfirmations,
    timestamp: transfer.timestamp,
    txid: transfer.txHash,
    type: transfer.kind,
    unlock_time: transfer.unlockTime,
  };
}

function describePayment(wallet: Wallet, { payment, text }: Paid, now: Now) {
  return {
    address: wallet.addressOf(payment.subaddress),
    amount: payment.amount,
    block_height: payment.height,
    locked: !isUnlocked(payment, now),
    payment_id: text ?? toHex(payment.paymentId),
    subaddr_index: payment.subaddress,
    tx_hash: toHex(payment.txHash),
    unlock_time: payment.unlockTime,
  };
}

/** A payment and its payment id as the response writes it; undefined: with all its digits. */
type Paid = { readonly payment: IncomingPayment; readonly text: string | undefined };
type PaymentsWanted = {
  /** 64 digits; undefined: any, or none. */
  readonly paymentId: string | undefined;
  readonly text: string | undefined;
  readonly minHeight: number;
};

/** Payments with a payment id above a height, newest first; pauses between items. */
function* paymentsWith(
  { incoming }: Wallet["state"],
  { paymentId, minHeight }: PaymentsWanted,
): Generator<void, SelectedReceipts> {
  if (paymentId !== undefined && paymentId !== NO_PAYMENT_ID) {
    const isAbove = (place: number) => incoming.lockAt(place).height > minHeight;
    return incoming.selected(incoming.placesWithId(fromHex(paymentId)).filter(isAbove));
  }
  const isWithoutId = paymentId !== undefined;
  const filter = {
    account: undefined,
    minors: new Set<number>(),
    minHeight,
    maxHeight: Number.MAX_SAFE_INTEGER,
    isWithoutId,
  };
  return incoming.selected(yield* incoming.matching(filter));
}

/**
 * Lists payments, which are formatted while the response is written. What is asked for several times is found once:
 * otherwise each time would take as much memory as the payments.
 */
async function describePayments(wallet: Wallet, questions: readonly PaymentsWanted[]) {
  const parts: Selected<Paid>[] = [];
  const byId = new Map<string | undefined, SelectedReceipts>();
  const slice = new TimeSlice();
  for (const question of questions) {
    if (slice.isOver) await slice.yield();
    const { paymentId, text } = question;
    const payments = byId.get(paymentId) ?? (await runSliced(paymentsWith(wallet.state, question)));
    if (!byId.has(paymentId)) await wallet.prepareAddresses(payments.receivers());
    byId.set(paymentId, payments);
    if (payments.length > 0)
      parts.push(new Selected(payments.length, (i) => ({ payment: payments.at(i), text })));
  }
  const now = wallet.now();
  const all = joined(parts);
  return { payments: new Drawn(all.length, (place) => describePayment(wallet, all.at(place), now)) };
}

/** Notes that are stored in one turn of the event loop. */
const NOTES_AT_ONCE = 256;

/** Stands for no payment id. */
const NO_PAYMENT_ID = "0".repeat(64);

const isHex = (text: string): boolean => /^([0-9a-f]{2})*$/i.test(text);

/** The 64 digits of a payment id with 16 or 64; undefined for another length. */
function wholePaymentId(text: string): string | undefined {
  if (text.length === 64) return text.toLowerCase();
  return text.length === 16 ? text.toLowerCase().padEnd(64, "0") : undefined;
}

function describeOutput(output: ListedOutput, { now, showsKeyImage }: OutputOptions) {
  const { keyImage } = output;
  return {
    amount: output.amount,
    block_height: output.height,
    frozen: output.frozen,
    global_index: Number(output.globalIndex),
    key_image: keyImage === undefined || !showsKeyImage ? "" : toHex(keyImage),
    pubkey: toHex(output.oneTimeKey),
    spent: output.isSpent,
    subaddr_index: output.subaddress,
    tx_hash: toHex(output.txHash),
    tx_size: output.txSize,
    unlocked: isUnlocked(output, now),
  };
}

type OutputOptions = { readonly now: Now; readonly showsKeyImage: boolean };

/** Lists outputs, which are formatted while the response is written. */
async function describeOutputs(wallet: Wallet, filter: OutputFilter, showsKeyImage: boolean) {
  return await retryWhenMoved(async () => {
    const options = { now: wallet.now(), showsKeyImage };
    const outputs = await runSliced(listOutputs(wallet.state.outputs, filter));
    return { transfers: new Drawn(outputs.length, (place) => describeOutput(outputs.at(place), options)) };
  });
}

/** Checks a transaction id (32 bytes) and returns its hex digits in lower case. */
const checkTxId = (text: string): string => toHex(parseTxHash(text));

function checkTxIdOfTransfer(text: string): string {
  if (!isHex(text)) throw new WalletRefusal("WRONG_TXID", "Transaction ID has invalid format");
  if (text.length !== 64) throw new WalletRefusal("WRONG_TXID", `Transaction ID has invalid size: ${text}`);
  return text.toLowerCase();
}

/** The owned output with the key image that a caller sent, and the key image in lower case. */
function namedOutput(wallet: Wallet, text: string, verb: string): { keyImage: string; output: OwnedOutput } {
  if (text === "") throw new WalletRefusal("UNKNOWN_ERROR", `Must specify key image to ${verb}`);
  const keyImage = parseKeyImage(text);
  const output = wallet.outputOf(keyImage);
  if (output === undefined) throw new WalletRefusal("UNKNOWN_ERROR", "Key image not found");
  return { keyImage: toHex(keyImage), output };
}

async function describeTransfers(wallet: Wallet, params: ParamsOf<typeof declared.history.getTransfers>) {
  const filter = {
    account: params.all_accounts ? undefined : params.account_index,
    minors: new Set(params.all_accounts ? [] : params.subaddr_indices),
    minHeight: params.filter_by_height ? params.min_height : 0,
    maxHeight: params.filter_by_height ? Math.min(params.max_height, MAX_BLOCK_NUMBER) : MAX_BLOCK_NUMBER,
  };
  const { lists, context } = await runSliced(selectTransfers(wallet, params, filter));
  for (const list of Object.values(lists)) await wallet.prepareAddresses(receiversOf(list));
  const describe = (listed: Listed) => describeTransfer(wallet, transferOf(listed, context));
  return mapValues(lists, (list) => new Drawn(list.length, (place) => describe(list.at(place))));
}

/**
 * Selects all entries as they are once the receipts are found, so that the response is consistent; they are formatted
 * while it is written. Pauses in between.
 */
function* selectTransfers(
  wallet: Wallet,
  params: ParamsOf<typeof declared.history.getTransfers>,
  filter: TransferFilter,
): Generator<void, { readonly lists: TransferLists; readonly context: HistoryContext }> {
  const received = params.in ? yield* listIncoming(wallet.state, filter) : undefined;
  // No pause from here on: the payments made are those of the first step.
  const { state } = wallet;
  const context = { state: { ...state }, now: wallet.now() };
  const unconfirmed = params.pending || params.failed ? [...listUnconfirmed(state, filter)] : [];
  const pool = params.pool ? listPool(state, filter) : undefined;
  const sent = params.out ? yield* listOutgoing(state, filter) : undefined;
  const lists = {
    ...(received && { in: received }),
    ...(sent && { out: sent }),
    ...(params.pending && { pending: transferListOf(unconfirmed.filter(({ kind }) => kind === "pending")) }),
    ...(params.failed && { failed: transferListOf(unconfirmed.filter(({ kind }) => kind === "failed")) }),
    ...(pool && { pool }),
  };
  return { lists, context };
}

type TransferLists = { readonly [K in "in" | "out" | "pending" | "failed" | "pool"]?: TransferList };

function mapValues<T>(
  lists: TransferLists,
  map: (list: TransferList) => T,
): { [K in keyof TransferLists]?: T } {
  return Object.fromEntries(Object.entries(lists).map(([name, list]) => [name, map(list)]));
}

export const historyHandlers = implementFor<WalletContext>()(declared.history, {
  getPayments({ payment_id }, { opened: { wallet } }) {
    if (!isHex(payment_id)) throw new WalletRefusal("WRONG_PAYMENT_ID", "Payment ID has invalid format");
    const whole = wholePaymentId(payment_id);
    if (whole === undefined) {
      throw new WalletRefusal("WRONG_PAYMENT_ID", `Payment ID has invalid size: ${payment_id}`);
    }
    return describePayments(wallet, [{ paymentId: whole, text: payment_id, minHeight: 0 }]);
  },
  getBulkPayments({ payment_ids, min_block_height: minHeight }, { opened: { wallet } }) {
    if (payment_ids.length === 0)
      return describePayments(wallet, [{ paymentId: undefined, text: undefined, minHeight }]);
    const questions = payment_ids.map((text) => {
      const paymentId = wholePaymentId(text);
      if (paymentId === undefined)
        throw new WalletRefusal("WRONG_PAYMENT_ID", `Payment ID has invalid size: ${text}`);
      if (!isHex(text)) throw new WalletRefusal("WRONG_PAYMENT_ID", `Payment ID has invalid format: ${text}`);
      return { paymentId, text, minHeight };
    });
    return describePayments(wallet, questions);
  },
  async incomingTransfers(params, { opened: { wallet }, token }) {
    // Whoever has key images sees when outputs are spent.
    const showsKeyImages = token === undefined || token.allows("secrets") || token.allows("spend");
    const { transfer_type, account_index: account, subaddr_indices } = params;
    if (!["all", "available", "unavailable"].includes(transfer_type)) {
      throw new WalletRefusal(
        "TRANSFER_TYPE",
        "Transfer type must be one of: all, available, or unavailable",
      );
    }
    const isSpent = transfer_type === "all" ? undefined : transfer_type === "unavailable";
    const filter = { account, minors: new Set(subaddr_indices), isSpent };
    const question = { name: "incomingTransfers", params: { ...params, showsKeyImages } };
    return await rememberedPatiently(wallet, question, () => describeOutputs(wallet, filter, showsKeyImages));
  },
  async getTransfers(params, { opened: { wallet } }) {
    if (params.pool) await wallet.refreshPool();
    const question = { name: "getTransfers", params };
    return await rememberedPatiently(wallet, question, () => describeTransfers(wallet, params));
  },
  async getTransferByTxid({ txid, account_index }, { opened: { wallet } }) {
    const id = checkTxIdOfTransfer(txid);
    if (account_index >= wallet.state.accounts.length) {
      throw new WalletRefusal("ACCOUNT_INDEX_OUT_OF_BOUNDS", "Account index is out of bound");
    }
    await wallet.refreshPool();
    const entries = transfersOf({ state: wallet.state, now: wallet.now() }, id, account_index);
    const transfers = entries.map((transfer) => describeTransfer(wallet, transfer));
    if (transfers.length === 0) throw new WalletRefusal("WRONG_TXID", "Transaction not found.");
    return { transfer: transfers[0]!, transfers };
  },
  async setTxNotes({ txids, notes }, { opened: { wallet } }) {
    if (txids.length !== notes.length) {
      throw new WalletRefusal("UNKNOWN_ERROR", "Different amount of txids and notes");
    }
    const ids = await mapSliced(txids, checkTxId);
    const cost = notes.reduce((sum, note, i) => sum + costOf(ids[i]!, note), 0);
    await wallet.texts.during(cost, async () => {
      for (let from = 0; from < ids.length; from += NOTES_AT_ONCE) {
        const some = ids.slice(from, from + NOTES_AT_ONCE);
        await Promise.all(
          some.map((txHash, i) => wallet.commit({ kind: "note", txHash, note: notes[from + i]! })),
        );
      }
    });
    return {};
  },
  async getTxNotes({ txids }, { opened: { wallet } }) {
    return { notes: await mapSliced(txids, (txid) => wallet.state.notes.get(checkTxId(txid)) ?? "") };
  },
  async freeze({ key_image }, { opened: { wallet } }) {
    const { keyImage } = namedOutput(wallet, key_image, "freeze");
    await wallet.commit({ kind: "frozen", keyImage, frozen: true });
    return {};
  },
  async thaw({ key_image }, { opened: { wallet } }) {
    const { keyImage } = namedOutput(wallet, key_image, "thaw");
    await wallet.commit({ kind: "frozen", keyImage, frozen: false });
    return {};
  },
  frozen({ key_image }, { opened: { wallet } }) {
    return { frozen: namedOutput(wallet, key_image, "check if frozen").output.frozen };
  },
});
