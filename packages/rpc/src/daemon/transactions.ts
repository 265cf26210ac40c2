import { costs } from "../costs.ts";
import { binaryPath, path } from "../define.ts";
import { list, object, omitEmpty, optional, or, zero } from "../schema/composites.ts";
import { flag, hash, hex, rawBytes, text, uint } from "../schema/scalars.ts";
import { accessStatus } from "./fields.ts";

/** Entry of `/get_transactions`; the last two fields belong to the pool, those before them to the chain. */
const transactionEntry = object({
  as_hex: hex,
  as_json: text,
  double_spend_seen: flag,
  in_pool: flag,
  prunable_as_hex: hex,
  prunable_hash: hash,
  pruned_as_hex: hex,
  tx_hash: hash,
  block_height: optional(uint),
  block_timestamp: optional(uint),
  confirmations: optional(uint),
  output_indices: optional(list(uint)),
  received_timestamp: optional(uint),
  relayed: optional(flag),
});

/** Transactions by hash, their outputs and key images, and sending them. */
export const transactions = {
  getTransactions: path({
    name: "/get_transactions",
    cost: costs.large,
    reads: true,
    aliases: ["/gettransactions"],
    summary: "Transactions by hash, from the chain or the pool.",
    params: object({
      txs_hashes: list(hash),
      decode_as_json: zero(flag),
      prune: or(flag, false),
      split: or(flag, false),
    }),
    result: object({
      missed_tx: omitEmpty(list(hash)),
      txs: list(transactionEntry),
      txs_as_hex: list(hex),
      txs_as_json: omitEmpty(list(text)),
      ...accessStatus,
    }),
  }),
  isKeyImageSpent: path({
    name: "/is_key_image_spent",
    cost: costs.medium,
    reads: true,
    summary: "Whether key images are unspent (0), spent in the chain (1) or spent in the pool (2).",
    params: object({ key_images: list(hash) }),
    result: object({ spent_status: list(uint), ...accessStatus }),
  }),
  sendRawTransaction: path({
    name: "/send_raw_transaction",
    aliases: ["/sendrawtransaction"],
    summary: "Takes a signed transaction into the pool and relays it.",
    params: object({ tx_as_hex: hex, do_not_relay: or(flag, false), do_sanity_checks: or(flag, true) }),
    result: object({
      double_spend: or(flag, false),
      fee_too_low: or(flag, false),
      invalid_input: or(flag, false),
      invalid_output: or(flag, false),
      low_mixin: or(flag, false),
      nonzero_unlock_time: or(flag, false),
      not_rct: or(flag, false),
      not_relayed: or(flag, false),
      overspend: or(flag, false),
      reason: or(text, ""),
      sanity_check_failed: or(flag, false),
      too_big: or(flag, false),
      too_few_outputs: or(flag, false),
      tx_extra_too_big: or(flag, false),
      ...accessStatus,
    }),
  }),
  getOIndexesBin: binaryPath({
    name: "/get_o_indexes.bin",
    cost: costs.medium,
    reads: true,
    summary: "Global indices of a transaction's outputs.",
    params: object({ txid: rawBytes }),
    result: object({ o_indexes: list(uint), ...accessStatus }),
  }),
};
