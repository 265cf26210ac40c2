import { costs } from "../costs.ts";
import { list, object, or, zero } from "../schema/composites.ts";
import { flag, hash, hex, text, uint, uint32 } from "../schema/scalars.ts";
import { nothing, onOpenWallet, onOwnSigner, onOwnSpendKey, payingOnce, walletMethod } from "./fields.ts";

const keyExchange = { address: text, multisig_info: text };

/** Wallets that several signers share. */
export const multisig = {
  isMultisig: walletMethod({
    name: "is_multisig",
    scope: "read",
    reads: true,
    needs: onOpenWallet,
    summary: "Whether several signers share the wallet, and how many must sign.",
    params: nothing,
    result: object({ multisig: flag, ready: flag, threshold: uint32, total: uint32 }),
  }),
  prepareMultisig: walletMethod({
    name: "prepare_multisig",
    scope: "secrets",
    needs: onOwnSpendKey,
    summary: "The first string to give to the other signers.",
    params: object({ enable_multisig_experimental: or(flag, false) }),
    result: object({ multisig_info: text }),
  }),
  makeMultisig: walletMethod({
    name: "make_multisig",
    scope: "admin",
    needs: onOwnSpendKey,
    cost: costs.bulky,
    summary: "Makes the wallet multisig with the other signers' strings.",
    params: object({ multisig_info: list(text), threshold: uint32, password: zero(text) }),
    result: object(keyExchange),
  }),
  finalizeMultisig: walletMethod({
    name: "finalize_multisig",
    scope: "admin",
    dialect: "contract",
    needs: onOwnSigner,
    summary: "Ends the key exchange of an N-1 of N wallet.",
    params: object({ multisig_info: zero(list(text)), password: zero(text) }),
    result: object({ address: text }),
  }),
  exchangeMultisigKeys: walletMethod({
    name: "exchange_multisig_keys",
    scope: "admin",
    needs: onOwnSigner,
    cost: costs.bulky,
    summary: "One round of the key exchange.",
    params: object({
      multisig_info: list(text),
      password: zero(text),
      force_update_use_with_caution: or(flag, false),
    }),
    result: object(keyExchange),
  }),
  exportMultisigInfo: walletMethod({
    name: "export_multisig_info",
    scope: "spend",
    needs: onOwnSigner,
    cost: costs.large,
    summary: "What the other signers need before a transfer.",
    params: nothing,
    result: object({ info: hex }),
  }),
  importMultisigInfo: walletMethod({
    name: "import_multisig_info",
    scope: "spend",
    needs: onOwnSigner,
    cost: costs.bulky,
    summary: "Takes what the other signers exported.",
    params: object({ info: list(hex), refresh_after_import: or(flag, true) }),
    result: object({ n_outputs: uint }),
  }),
  signMultisig: walletMethod({
    name: "sign_multisig",
    scope: "spend",
    isUncounted: true,
    needs: onOwnSigner,
    cost: costs.bulky,
    summary: "Adds this signer's part to a set of transactions.",
    params: object({ tx_data_hex: hex }),
    result: object({ tx_data_hex: hex, tx_hash_list: list(hash) }),
  }),
  submitMultisig: walletMethod({
    name: "submit_multisig",
    scope: "spend",
    isUncounted: true,
    needs: onOwnSigner,
    cost: costs.bulky,
    summary: "Sends a set of transactions that enough signers have signed.",
    params: object({ tx_data_hex: hex, ...payingOnce }),
    result: object({ tx_hash_list: list(hash) }),
  }),
};
