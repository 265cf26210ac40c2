/** Payments, transfers, notes. Declarations: @anulo/rpc wallet/history. */
import { MAX_BLOCK_NUMBER, toHex } from "@anulo/protocol";
import { wallet as declared, drawn, implementFor, type ParamsOf } from "@anulo/rpc";
import {
  type Listed,
  listIncoming,
  listOutgoing,
  listPool,
  listUnconfirmed,
  receiverOf,
  type Transfer,
  transferOf,
  transfersOf,
} from "../history/transfers.ts";
import { WalletRefusal } from "../refusal.ts";
import type { WalletContext } from "../service.ts";
import type { IncomingPayment, OwnedOutput } from "../state.ts";
import { isUnlocked, isUnspent, type Now } from "../unlock.ts";
import type { Wallet } from "../wallet.ts";
import { parseKeyImage, parseTxHash } from "./parse-hex.ts";
import { remembered, rememberedPatiently } from "./remembered.ts";

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

function describePayment(wallet: Wallet, payment: IncomingPayment, paymentId: string) {
  return {
    address: wallet.addressOf(payment.subaddress),
    amount: payment.amount,
    block_height: payment.height,
    locked: !isUnlocked(payment, wallet.now()),
    payment_id: paymentId,
    subaddr_index: payment.subaddress,
    tx_hash: toHex(payment.txHash),
    unlock_time: payment.unlockTime,
  };
}

/** Payments with one id (64 digits) above a height, newest first. */
function paymentsWith(wallet: Wallet, paymentId: string, minHeight: number): IncomingPayment[] {
  return wallet.state.incoming
    .filter((payment) => payment.height > minHeight && toHex(payment.paymentId) === paymentId)
    .reverse();
}

const isHex = (text: string): boolean => /^([0-9a-f]{2})*$/i.test(text);

/** The 64 digits of a payment id with 16 or 64; undefined for another length. */
function wholePaymentId(text: string): string | undefined {
  if (text.length === 64) return text.toLowerCase();
  return text.length === 16 ? text.toLowerCase().padEnd(64, "0") : undefined;
}

/** The properties of an output that may change before it is formatted. */
function momentOf(output: OwnedOutput, showsKeyImage: boolean) {
  const keyImage = showsKeyImage ? output.keyImage : undefined;
  return { output, frozen: output.frozen, keyImage, spent: !isUnspent(output) };
}

function describeOutput({ output, frozen, keyImage, spent }: ReturnType<typeof momentOf>, now: Now) {
  return {
    amount: output.amount,
    block_height: output.height,
    frozen,
    global_index: Number(output.globalIndex),
    key_image: keyImage === undefined ? "" : toHex(keyImage),
    pubkey: toHex(output.oneTimeKey),
    spent,
    subaddr_index: output.subaddress,
    tx_hash: toHex(output.txHash),
    tx_size: output.txSize,
    unlocked: isUnlocked(output, now),
  };
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
    minors: params.all_accounts ? [] : params.subaddr_indices,
    minHeight: params.filter_by_height ? params.min_height : 0,
    maxHeight: params.filter_by_height ? Math.min(params.max_height, MAX_BLOCK_NUMBER) : MAX_BLOCK_NUMBER,
  };
  const state = { ...wallet.state };
  const context = { state, now: wallet.now() };
  // All entries are selected at once, so that the response is consistent; they are formatted while it is written.
  const unconfirmed = params.pending || params.failed ? listUnconfirmed(state, filter) : [];
  const lists = {
    ...(params.in && { in: listIncoming(state, filter) }),
    ...(params.out && { out: listOutgoing(state, filter) }),
    ...(params.pending && { pending: unconfirmed.filter(({ kind }) => kind === "pending") }),
    ...(params.failed && { failed: unconfirmed.filter(({ kind }) => kind === "failed") }),
    ...(params.pool && { pool: listPool(state, filter) }),
  };
  await wallet.prepareAddresses(Object.values(lists).flat().map(receiverOf));
  const describe = (listed: Listed) => describeTransfer(wallet, transferOf(listed, context));
  return mapValues(lists, (listed) => drawn(listed, describe));
}

type TransferLists = { readonly [K in "in" | "out" | "pending" | "failed" | "pool"]?: readonly Listed[] };

function mapValues<T>(
  lists: TransferLists,
  map: (listed: readonly Listed[]) => T,
): { [K in keyof TransferLists]?: T } {
  return Object.fromEntries(Object.entries(lists).map(([name, listed]) => [name, map(listed)]));
}

export const historyHandlers = implementFor<WalletContext>()(declared.history, {
  getPayments({ payment_id }, { opened: { wallet } }) {
    if (!isHex(payment_id)) throw new WalletRefusal("WRONG_PAYMENT_ID", "Payment ID has invalid format");
    const whole = wholePaymentId(payment_id);
    if (whole === undefined) {
      throw new WalletRefusal("WRONG_PAYMENT_ID", `Payment ID has invalid size: ${payment_id}`);
    }
    return {
      payments: paymentsWith(wallet, whole, 0).map((found) => describePayment(wallet, found, payment_id)),
    };
  },
  getBulkPayments({ payment_ids, min_block_height }, { opened: { wallet } }) {
    if (payment_ids.length === 0) {
      const all = wallet.state.incoming.filter(({ height }) => height > min_block_height).reverse();
      return { payments: all.map((payment) => describePayment(wallet, payment, toHex(payment.paymentId))) };
    }
    const payments = payment_ids.flatMap((text) => {
      const whole = wholePaymentId(text);
      if (whole === undefined)
        throw new WalletRefusal("WRONG_PAYMENT_ID", `Payment ID has invalid size: ${text}`);
      if (!isHex(text)) throw new WalletRefusal("WRONG_PAYMENT_ID", `Payment ID has invalid format: ${text}`);
      return paymentsWith(wallet, whole, min_block_height).map((found) =>
        describePayment(wallet, found, text),
      );
    });
    return { payments };
  },
  incomingTransfers(params, { opened: { wallet }, token }) {
    // Whoever has key images sees when outputs are spent.
    const showsKeyImages = token === undefined || token.allows("secrets") || token.allows("spend");
    const { transfer_type, account_index, subaddr_indices } = params;
    if (!["all", "available", "unavailable"].includes(transfer_type)) {
      throw new WalletRefusal(
        "TRANSFER_TYPE",
        "Transfer type must be one of: all, available, or unavailable",
      );
    }
    return remembered(wallet, { name: "incomingTransfers", params: { ...params, showsKeyImages } }, () => {
      const wanted = wallet.state.outputs.filter((output) => {
        const { major, minor } = output.subaddress;
        if (transfer_type !== "all" && (transfer_type === "available") !== isUnspent(output)) return false;
        return major === account_index && (subaddr_indices.length === 0 || subaddr_indices.includes(minor));
      });
      const now = wallet.now();
      const outputs = wanted.map((output) => momentOf(output, showsKeyImages));
      return { transfers: drawn(outputs, (moment) => describeOutput(moment, now)) };
    });
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
    const found = transfersOf({ state: wallet.state, now: wallet.now() }, id, account_index);
    const transfers = found.map((transfer) => describeTransfer(wallet, transfer));
    if (transfers.length === 0) throw new WalletRefusal("WRONG_TXID", "Transaction not found.");
    return { transfer: transfers[0]!, transfers };
  },
  async setTxNotes({ txids, notes }, { opened: { wallet } }) {
    if (txids.length !== notes.length) {
      throw new WalletRefusal("UNKNOWN_ERROR", "Different amount of txids and notes");
    }
    const ids = txids.map(checkTxId);
    await Promise.all(ids.map((txHash, i) => wallet.commit({ kind: "note", txHash, note: notes[i]! })));
    return {};
  },
  getTxNotes: ({ txids }, { opened: { wallet } }) => ({
    notes: txids.map(checkTxId).map((id) => wallet.state.notes.get(id) ?? ""),
  }),
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
