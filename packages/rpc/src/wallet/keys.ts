import { costs } from "../costs.ts";
import { list, object, omitEmpty, or, zero } from "../schema/composites.ts";
import { flag, hash, text, u64, uint } from "../schema/scalars.ts";
import { maybeText, nothing, onOpenWallet, onOwnSpendKey, onSpendKey, walletMethod } from "./fields.ts";

/** Parts of a payment request; the amount is in atomic units. */
const uriParts = {
  address: zero(text),
  payment_id: zero(text),
  amount: zero(u64),
  tx_description: zero(text),
  recipient_name: zero(text),
};

/** Keys, integrated addresses, attributes and payment URIs. */
export const keys = {
  queryKey: walletMethod({
    name: "query_key",
    scope: "secrets",
    reads: true,
    summary: "A secret of the wallet: mnemonic, view_key or spend_key.",
    params: object({ key_type: text }),
    result: object({ key: text }),
  }),
  makeIntegratedAddress: walletMethod({
    name: "make_integrated_address",
    scope: "receive",
    reads: true,
    needs: onOpenWallet,
    summary: "Joins an address and a payment id.",
    params: object({ standard_address: zero(text), payment_id: zero(text) }),
    result: object({ integrated_address: text, payment_id: text }),
  }),
  splitIntegratedAddress: walletMethod({
    name: "split_integrated_address",
    scope: "read",
    reads: true,
    needs: onOpenWallet,
    summary: "Takes an integrated address apart.",
    params: object({ integrated_address: text }),
    result: object({ is_subaddress: flag, payment: text, payment_id: text, standard_address: text }),
  }),
  setAttribute: walletMethod({
    name: "set_attribute",
    scope: "receive",
    needs: onOwnSpendKey,
    cost: costs.bulky,
    summary: "Stores a text under a name in the wallet.",
    params: object({ key: text, value: text }),
    result: nothing,
  }),
  getAttribute: walletMethod({
    name: "get_attribute",
    scope: "read",
    cost: costs.bulky,
    reads: true,
    summary: "A text stored with set_attribute.",
    params: object({ key: text }),
    result: object({ value: text }),
  }),
  getTxKey: walletMethod({
    name: "get_tx_key",
    scope: "secrets",
    reads: true,
    needs: onSpendKey,
    summary: "Secret key of a transaction this wallet sent.",
    params: object({ txid: hash }),
    result: object({ tx_key: text }),
  }),
  checkTxKey: walletMethod({
    name: "check_tx_key",
    scope: "read",
    reads: true,
    needs: onOpenWallet,
    summary: "What an address received in a transaction, shown by the transaction's key.",
    params: object({ txid: hash, tx_key: text, address: text }),
    result: object({ confirmations: uint, in_pool: flag, received: u64 }),
  }),
  makeUri: walletMethod({
    name: "make_uri",
    scope: "receive",
    reads: true,
    needs: onOpenWallet,
    summary: "Writes a payment request as a URI.",
    params: object(uriParts),
    result: object({ uri: text }),
  }),
  parseUri: walletMethod({
    name: "parse_uri",
    scope: "read",
    reads: true,
    needs: onOpenWallet,
    summary: "Reads a payment request from a URI.",
    params: object({ uri: text }),
    result: object({
      uri: object({
        address: text,
        amount: or(u64, 0n),
        payment_id: maybeText,
        recipient_name: maybeText,
        tx_description: maybeText,
      }),
      unknown_parameters: omitEmpty(list(text)),
    }),
  }),
};
