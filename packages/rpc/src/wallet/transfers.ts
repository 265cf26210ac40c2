import { costs } from "../costs.ts";
import { list, object, omitEmpty, optional, or, zero } from "../schema/composites.ts";
import { flag, hash, hex, text, u64, uint, uint32 } from "../schema/scalars.ts";
import {
  destination,
  maybeText,
  nothing,
  onOpenWallet,
  onOwnSpendKeySigner,
  payingOnce,
  walletMethod,
} from "./fields.ts";

const keyImages = object({ key_images: omitEmpty(list(hash)) });

/** What each destination gets, in atomic units. */
const amounts = object({ amounts: omitEmpty(list(u64)) });

/** What becomes of a transaction besides being sent. */
const relayChoice = {
  ...payingOnce,
  do_not_relay: or(flag, false),
  get_tx_hex: or(flag, false),
  get_tx_metadata: or(flag, false),
};

/** How a transaction is built; an `unlock_time` other than 0 is refused, as no node relays such a transaction. */
const buildChoice = {
  account_index: zero(uint32),
  subaddr_indices: zero(list(uint32)),
  priority: zero(uint32),
  mixin: zero(uint),
  ring_size: or(uint, 0),
  unlock_time: zero(u64),
  payment_id: zero(text),
};

/** Texts and numbers of one transaction; what was not requested is "". */
const oneTransaction = {
  amount: u64,
  amounts_by_dest: optional(amounts),
  fee: u64,
  multisig_txset: maybeText,
  spent_key_images: keyImages,
  tx_blob: maybeText,
  tx_hash: maybeText,
  tx_key: maybeText,
  tx_metadata: maybeText,
  unsigned_txset: maybeText,
  weight: uint,
};

/** The same of several transactions. */
const transactionLists = {
  amount_list: list(u64),
  fee_list: list(u64),
  tx_blob_list: list(hex),
  tx_hash_list: list(hash),
  tx_key_list: list(hex),
  tx_metadata_list: list(hex),
};

const txSets = { multisig_txset: maybeText, unsigned_txset: maybeText };

const extraLists = {
  amounts_by_dest_list: omitEmpty(list(amounts)),
  spent_key_images_list: omitEmpty(list(keyImages)),
  weight_list: omitEmpty(list(uint)),
};

const manyTransactions = object({ ...transactionLists, ...txSets, ...extraLists });

const sweepChoice = {
  address: zero(text),
  ...buildChoice,
  outputs: or(uint, 1),
  below_amount: zero(u64),
  get_tx_keys: zero(flag),
  ...relayChoice,
};

/** Building and sending transactions. */
export const transfers = {
  transfer: walletMethod({
    name: "transfer",
    scope: "spend",
    needs: onOwnSpendKeySigner,
    cost: costs.medium,
    summary: "Sends to destinations in one transaction.",
    params: object({
      destinations: list(destination),
      ...buildChoice,
      subtract_fee_from_outputs: zero(list(uint32)),
      get_tx_key: zero(flag),
      ...relayChoice,
    }),
    result: object(oneTransaction),
  }),
  transferSplit: walletMethod({
    name: "transfer_split",
    scope: "spend",
    needs: onOwnSpendKeySigner,
    cost: costs.large,
    summary: "Sends to destinations, in several transactions if one is too small.",
    params: object({
      destinations: list(destination),
      ...buildChoice,
      get_tx_keys: zero(flag),
      new_algorithm: or(flag, false),
      ...relayChoice,
    }),
    result: manyTransactions,
  }),
  sweepDust: walletMethod({
    name: "sweep_dust",
    scope: "spend",
    needs: onOwnSpendKeySigner,
    cost: costs.large,
    aliases: ["sweep_unmixable"],
    summary: "Spends the outputs that rings cannot hide.",
    params: object({ get_tx_keys: zero(flag), ...relayChoice }),
    result: object({
      amount_list: optional(list(u64)),
      fee_list: optional(list(u64)),
      tx_blob_list: optional(list(hex)),
      tx_hash_list: optional(list(hash)),
      tx_key_list: optional(list(hex)),
      tx_metadata_list: optional(list(hex)),
      ...txSets,
      ...extraLists,
    }),
  }),
  sweepAll: walletMethod({
    name: "sweep_all",
    scope: "spend",
    needs: onOwnSpendKeySigner,
    cost: costs.large,
    summary: "Sends everything an account can spend to one address.",
    params: object({ ...sweepChoice, subaddr_indices_all: or(flag, false) }),
    result: manyTransactions,
  }),
  sweepSingle: walletMethod({
    name: "sweep_single",
    scope: "spend",
    needs: onOwnSpendKeySigner,
    cost: costs.medium,
    summary: "Sends one output, named by its key image, to one address.",
    params: object({ ...sweepChoice, key_image: zero(hash), get_tx_key: zero(flag) }),
    result: object({ ...oneTransaction, ...transactionLists }),
  }),
  relayTx: walletMethod({
    name: "relay_tx",
    scope: "spend",
    cost: costs.bulky,
    summary: "Sends a transaction that was built with do_not_relay, from its metadata.",
    params: object({ hex, ...payingOnce }),
    result: object({ tx_hash: hash }),
  }),
  store: walletMethod({
    name: "store",
    scope: "receive",
    summary: "Saves the wallet.",
    params: nothing,
    result: nothing,
  }),
  getDefaultFeePriority: walletMethod({
    name: "get_default_fee_priority",
    scope: "read",
    reads: true,
    needs: onOpenWallet,
    summary: "The priority of a transfer that names none.",
    params: nothing,
    result: object({ priority: uint32 }),
  }),
  estimateTxSizeAndWeight: walletMethod({
    name: "estimate_tx_size_and_weight",
    scope: "read",
    reads: true,
    needs: onOpenWallet,
    summary: "Size in bytes and weight of a transaction not yet built.",
    params: object({
      n_inputs: zero(uint32),
      n_outputs: zero(uint32),
      ring_size: or(uint32, 0),
      rct: or(flag, true),
    }),
    result: object({ size: uint, weight: uint }),
  }),
};
