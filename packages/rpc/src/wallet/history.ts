import { MAX_BLOCK_NUMBER } from "@anulo/protocol";
import { costs } from "../costs.ts";
import { contractZero, list, object, omitEmpty, optional, or, zero } from "../schema/composites.ts";
import { flag, hash, text, u64, uint, uint32 } from "../schema/scalars.ts";
import { switched, wireForm } from "../schema/switched.ts";
import {
  destination,
  nothing,
  onOpenWallet,
  onOwnSpendKey,
  onSpendKey,
  subaddressIndex,
  walletMethod,
} from "./fields.ts";

const payment = object({
  address: text,
  amount: u64,
  block_height: uint,
  locked: flag,
  payment_id: text,
  subaddr_index: subaddressIndex,
  tx_hash: hash,
  unlock_time: u64,
});

const receivedOutput = object({
  amount: u64,
  block_height: uint,
  frozen: flag,
  global_index: uint,
  key_image: text,
  pubkey: hash,
  spent: flag,
  subaddr_index: subaddressIndex,
  tx_hash: hash,
  tx_size: uint,
  unlocked: flag,
});

/** Kinds of transfer; `block` is a mining reward. */
export type TransferType = "in" | "out" | "pending" | "failed" | "pool" | "block";

const asText = (type: TransferType): string => type;
const asType = (type: string): TransferType => type as TransferType;

/** Difference S3: a mining reward is `in`, or upstream `block`. */
const transferType = switched<TransferType>({
  contract: wireForm({
    schema: text,
    toWire: (type: TransferType) => (type === "block" ? "in" : type),
    fromWire: asType,
  }),
  upstream: wireForm({ schema: text, toWire: asText, fromWire: asType }),
});

const transferFields = {
  address: text,
  amount: u64,
  amounts: omitEmpty(or(list(u64), [])),
  confirmations: contractZero(or(uint, 0)),
  double_spend_seen: flag,
  fee: u64,
  height: uint,
  locked: flag,
  note: text,
  payment_id: text,
  subaddr_index: subaddressIndex,
  subaddr_indices: omitEmpty(list(subaddressIndex)),
  suggested_confirmations_threshold: contractZero(or(u64, 0n)),
  timestamp: uint,
  txid: hash,
  type: transferType,
  unlock_time: u64,
};

/** One transfer of this wallet; an outgoing one always has `destinations`. */
const transferEntry = object({ ...transferFields, destinations: optional(list(destination)) });

/** The same in a list, where `destinations` are an extra: only where they are known. */
const listedTransfer = object({ ...transferFields, destinations: omitEmpty(optional(list(destination))) });

const kinds = {
  in: optional(list(listedTransfer)),
  out: optional(list(listedTransfer)),
  pending: optional(list(listedTransfer)),
  failed: optional(list(listedTransfer)),
  pool: optional(list(listedTransfer)),
};

const keyImageParams = object({ key_image: zero(hash) });

/** What came in and went out, and notes about it. */
export const history = {
  getPayments: walletMethod({
    name: "get_payments",
    scope: "read",
    cost: costs.large,
    reads: true,
    needs: onOpenWallet,
    summary: "Payments with one payment id.",
    params: object({ payment_id: text }),
    result: object({ payments: list(payment) }),
  }),
  getBulkPayments: walletMethod({
    name: "get_bulk_payments",
    scope: "read",
    cost: costs.bulky,
    reads: true,
    needs: onOpenWallet,
    summary: "Payments with any of some payment ids, above a height.",
    params: object({ payment_ids: zero(list(text)), min_block_height: zero(uint) }),
    result: object({ payments: list(payment) }),
  }),
  incomingTransfers: walletMethod({
    name: "incoming_transfers",
    scope: "read",
    cost: costs.large,
    reads: true,
    needs: onOpenWallet,
    summary: "Outputs the wallet received: all, available or unavailable.",
    params: object({
      transfer_type: text,
      account_index: zero(uint32),
      subaddr_indices: zero(list(uint32)),
    }),
    result: object({ transfers: list(receivedOutput) }),
  }),
  getTransfers: walletMethod({
    name: "get_transfers",
    scope: "read",
    cost: costs.large,
    reads: true,
    summary: "Transfers of the kinds asked for.",
    params: object({
      in: zero(flag),
      out: zero(flag),
      pending: zero(flag),
      failed: zero(flag),
      pool: zero(flag),
      filter_by_height: zero(flag),
      min_height: zero(uint),
      max_height: or(uint, MAX_BLOCK_NUMBER),
      account_index: zero(uint32),
      subaddr_indices: zero(list(uint32)),
      all_accounts: or(flag, false),
    }),
    result: object(kinds),
  }),
  getTransferByTxid: walletMethod({
    name: "get_transfer_by_txid",
    scope: "read",
    cost: costs.medium,
    reads: true,
    summary: "Transfers of one transaction.",
    params: object({ txid: hash, account_index: or(uint32, 0) }),
    result: object({ transfer: transferEntry, transfers: omitEmpty(list(transferEntry)) }),
  }),
  setTxNotes: walletMethod({
    name: "set_tx_notes",
    scope: "receive",
    needs: onOwnSpendKey,
    cost: costs.bulky,
    summary: "Attaches notes to transactions.",
    params: object({ txids: list(hash), notes: list(text) }),
    result: nothing,
  }),
  getTxNotes: walletMethod({
    name: "get_tx_notes",
    scope: "read",
    cost: costs.bulky,
    reads: true,
    needs: onOpenWallet,
    summary: "Notes of transactions, in the order asked for.",
    params: object({ txids: list(hash) }),
    result: object({ notes: list(text) }),
  }),
  freeze: walletMethod({
    name: "freeze",
    scope: "spend",
    needs: onOwnSpendKey,
    summary: "Keeps an output, named by its key image, from being spent.",
    params: keyImageParams,
    result: nothing,
  }),
  thaw: walletMethod({
    name: "thaw",
    scope: "spend",
    needs: onOwnSpendKey,
    summary: "Lets a frozen output be spent again.",
    params: keyImageParams,
    result: nothing,
  }),
  frozen: walletMethod({
    name: "frozen",
    scope: "read",
    reads: true,
    needs: onSpendKey,
    summary: "Whether an output is frozen.",
    params: keyImageParams,
    result: object({ frozen: flag }),
  }),
};
