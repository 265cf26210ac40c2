import { costs } from "../costs.ts";
import { list, object, omitEmpty, optional, or, zero } from "../schema/composites.ts";
import { flag, text, u64, uint, uint32 } from "../schema/scalars.ts";
import { switched, wireForm } from "../schema/switched.ts";
import { nothing, onOpenWallet, onOwnSpendKey, onSpendKey, subaddressIndex, walletMethod } from "./fields.ts";

const addressBalance = object({
  account_index: uint32,
  address: text,
  address_index: uint32,
  balance: u64,
  blocks_to_unlock: uint,
  label: text,
  num_unspent_outputs: uint,
  time_to_unlock: u64,
  unlocked_balance: u64,
});

const account = object({
  account_index: uint32,
  balance: u64,
  base_address: text,
  label: text,
  tag: text,
  unlocked_balance: u64,
});

const noText = (value: string | boolean): boolean => value === "" || value === false;

/** Difference S2: whether a name resolved, or the address it resolved to. */
const openAliasAddress = switched<string | boolean>({
  contract: wireForm({ schema: flag, toWire: (v) => !noText(v), fromWire: (v) => v }),
  upstream: wireForm<string | boolean, string>({
    schema: text,
    toWire: (v) => (typeof v === "string" ? v : ""),
    fromWire: (v) => v,
  }),
});

/** Accounts, subaddresses and balances. */
export const accounts = {
  getBalance: walletMethod({
    name: "get_balance",
    scope: "read",
    cost: costs.large,
    reads: true,
    aliases: ["getbalance"],
    needs: onOpenWallet,
    summary: "Balance of an account and of its addresses, in atomic units.",
    params: object({
      account_index: zero(uint32),
      address_indices: zero(list(uint32)),
      all_accounts: or(flag, false),
      strict: or(flag, false),
    }),
    result: object({
      balance: u64,
      blocks_to_unlock: uint,
      multisig_import_needed: flag,
      per_subaddress: list(addressBalance),
      time_to_unlock: u64,
      unlocked_balance: u64,
    }),
  }),
  getAddress: walletMethod({
    name: "get_address",
    scope: "read",
    cost: costs.large,
    reads: true,
    aliases: ["getaddress"],
    needs: onOpenWallet,
    summary: "Addresses of an account.",
    params: object({ account_index: zero(uint32), address_index: zero(list(uint32)) }),
    result: object({
      address: text,
      addresses: list(object({ address: text, label: text, address_index: uint32, used: flag })),
    }),
  }),
  getAddressIndex: walletMethod({
    name: "get_address_index",
    scope: "read",
    reads: true,
    needs: onOpenWallet,
    summary: "Account and index of an address of this wallet.",
    params: object({ address: text }),
    result: object({ index: subaddressIndex }),
  }),
  createAddress: walletMethod({
    name: "create_address",
    scope: "receive",
    needs: onOwnSpendKey,
    cost: costs.large,
    summary: "Makes new addresses in an account.",
    params: object({ account_index: zero(uint32), label: zero(text), count: or(uint32, 1) }),
    result: object({
      address: text,
      address_index: uint32,
      address_indices: omitEmpty(list(uint32)),
      addresses: omitEmpty(list(text)),
    }),
  }),
  labelAddress: walletMethod({
    name: "label_address",
    scope: "receive",
    needs: onOwnSpendKey,
    summary: "Names an address.",
    params: object({ index: subaddressIndex, label: text }),
    result: nothing,
  }),
  validateAddress: walletMethod({
    name: "validate_address",
    scope: "read",
    reach: "nothing",
    reads: true,
    // The network is that of the open wallet, unless any will do.
    needs: [],
    summary: "Whether a text is an address, and of which kind and network.",
    params: object({ address: text, any_net_type: or(flag, false), allow_openalias: or(flag, false) }),
    result: object({
      integrated: flag,
      nettype: text,
      openalias_address: openAliasAddress,
      subaddress: flag,
      valid: flag,
    }),
  }),
  getAccounts: walletMethod({
    name: "get_accounts",
    scope: "read",
    cost: costs.large,
    reads: true,
    needs: onOpenWallet,
    summary: "Accounts with their balances, in atomic units.",
    params: object({ tag: zero(text), strict_balances: or(flag, false), regexp: or(flag, false) }),
    result: object({
      subaddress_accounts: list(account),
      total_balance: u64,
      total_unlocked_balance: u64,
    }),
  }),
  createAccount: walletMethod({
    name: "create_account",
    scope: "receive",
    needs: onOwnSpendKey,
    summary: "Makes a new account.",
    params: object({ label: zero(text) }),
    result: object({ account_index: uint32, address: text }),
  }),
  labelAccount: walletMethod({
    name: "label_account",
    scope: "receive",
    needs: onOwnSpendKey,
    summary: "Names an account.",
    params: object({ account_index: zero(uint32), label: text }),
    result: nothing,
  }),
  getAccountTags: walletMethod({
    name: "get_account_tags",
    scope: "read",
    cost: costs.medium,
    reads: true,
    needs: onSpendKey,
    summary: "Tags and the accounts that carry them.",
    params: nothing,
    result: object({
      account_tags: list(object({ tag: text, label: text, accounts: list(uint32) })),
    }),
  }),
  tagAccounts: walletMethod({
    name: "tag_accounts",
    scope: "receive",
    needs: onOwnSpendKey,
    cost: costs.bulky,
    summary: "Puts a tag on accounts.",
    params: object({ tag: text, accounts: list(uint32) }),
    result: nothing,
  }),
  untagAccounts: walletMethod({
    name: "untag_accounts",
    scope: "receive",
    needs: onOwnSpendKey,
    summary: "Takes the tags off accounts.",
    params: object({ accounts: list(uint32) }),
    result: nothing,
  }),
  setAccountTagDescription: walletMethod({
    name: "set_account_tag_description",
    scope: "receive",
    needs: onOwnSpendKey,
    summary: "Describes a tag.",
    params: object({ tag: text, description: text }),
    result: nothing,
  }),
  getHeight: walletMethod({
    name: "get_height",
    scope: "read",
    reads: true,
    aliases: ["getheight"],
    needs: onOpenWallet,
    summary: "Number of blocks the wallet has scanned; during a long scan also how it goes on.",
    params: nothing,
    result: object({
      height: uint,
      scan_blocks_per_second: optional(uint),
      scan_seconds_left: optional(uint),
      scan_target_height: optional(uint),
    }),
  }),
};
