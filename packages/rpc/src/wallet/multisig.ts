import { costs } from "../costs.ts";
import { method } from "../define.ts";
import { list, object, or, zero } from "../schema/composites.ts";
import { flag, hash, hex, text, uint, uint32 } from "../schema/scalars.ts";
import { nothing, onOpenWallet, onOwnWallet } from "./fields.ts";

const keyExchange = { address: text, multisig_info: text };

/** Wallets that several signers share. */
export const multisig = {
  isMultisig: method({
    name: "is_multisig",
    reads: true,
    needs: onOpenWallet,
    summary: "Whether several signers share the wallet, and how many must sign.",
    params: nothing,
    result: object({ multisig: flag, ready: flag, threshold: uint32, total: uint32 }),
  }),
  prepareMultisig: method({
    name: "prepare_multisig",
    needs: onOwnWallet,
    summary: "The first string to give to the other signers.",
    params: object({ enable_multisig_experimental: or(flag, false) }),
    result: object({ multisig_info: text }),
  }),
  makeMultisig: method({
    name: "make_multisig",
    cost: costs.bulky,
    needs: onOwnWallet,
    summary: "Makes the wallet multisig with the other signers' strings.",
    params: object({ multisig_info: list(text), threshold: uint32, password: zero(text) }),
    result: object(keyExchange),
  }),
  finalizeMultisig: method({
    name: "finalize_multisig",
    summary: "Ends the key exchange of an N-1 of N wallet.",
    params: object({ multisig_info: zero(list(text)), password: zero(text) }),
    result: object({ address: text }),
  }),
  exchangeMultisigKeys: method({
    name: "exchange_multisig_keys",
    cost: costs.bulky,
    needs: onOwnWallet,
    summary: "One round of the key exchange.",
    params: object({ multisig_info: list(text), password: zero(text) }),
    result: object(keyExchange),
  }),
  exportMultisigInfo: method({
    name: "export_multisig_info",
    cost: costs.large,
    needs: onOwnWallet,
    summary: "What the other signers need before a transfer.",
    params: nothing,
    result: object({ info: hex }),
  }),
  importMultisigInfo: method({
    name: "import_multisig_info",
    cost: costs.bulky,
    needs: onOwnWallet,
    summary: "Takes what the other signers exported.",
    params: object({ info: list(hex) }),
    result: object({ n_outputs: uint }),
  }),
  signMultisig: method({
    name: "sign_multisig",
    cost: costs.bulky,
    needs: onOwnWallet,
    summary: "Adds this signer's part to a set of transactions.",
    params: object({ tx_data_hex: hex }),
    result: object({ tx_data_hex: hex, tx_hash_list: list(hash) }),
  }),
  submitMultisig: method({
    name: "submit_multisig",
    cost: costs.bulky,
    needs: onOwnWallet,
    summary: "Sends a set of transactions that enough signers have signed.",
    params: object({ tx_data_hex: hex }),
    result: object({ tx_hash_list: list(hash) }),
  }),
};
