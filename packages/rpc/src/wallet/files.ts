import { costs } from "../costs.ts";
import { always, list, object, omitEmpty, or, zero } from "../schema/composites.ts";
import { flag, text, uint, uint32 } from "../schema/scalars.ts";
import { nothing, onOwnService, onOwnSpendKey, walletMethod } from "./fields.ts";

const autosave = { autosave_current: or(flag, true) };

/** Wallet files: creating, opening, restoring, closing. */
export const files = {
  getLanguages: walletMethod({
    name: "get_languages",
    scope: "any",
    reach: "nothing",
    reads: true,
    needs: [],
    summary: "Languages a seed can be written in.",
    params: nothing,
    result: object({ languages: list(text), languages_local: omitEmpty(list(text)) }),
  }),
  createWallet: walletMethod({
    name: "create_wallet",
    scope: "admin",
    reach: "filename",
    needs: onOwnService,
    summary: "Creates a wallet with new keys and opens it.",
    params: object({ filename: text, password: zero(text), language: text }),
    result: nothing,
  }),
  openWallet: walletMethod({
    name: "open_wallet",
    scope: "admin",
    reach: "filename",
    needs: onOwnService,
    summary: "Opens a wallet of the wallet directory.",
    params: object({ filename: text, password: zero(text), ...autosave }),
    result: nothing,
  }),
  closeWallet: walletMethod({
    name: "close_wallet",
    scope: "admin",
    summary: "Saves and closes the wallet.",
    params: object(autosave),
    result: nothing,
  }),
  listWallets: walletMethod({
    name: "list_wallets",
    scope: "read",
    reach: "nothing",
    reads: true,
    needs: onOwnService,
    cost: costs.medium,
    summary:
      "Names of the wallets in the wallet directory, in order, and which are open (not in the original).",
    params: object({ after: or(text, ""), limit: or(uint32, 100) }),
    result: object({ wallets: always(list(object({ name: text, open: flag }))), more: flag }),
  }),
  changeWalletPassword: walletMethod({
    name: "change_wallet_password",
    scope: "admin",
    needs: onOwnSpendKey,
    summary: "Changes the password of the wallet file.",
    params: object({ old_password: zero(text), new_password: zero(text) }),
    result: nothing,
  }),
  setSubaddressLookahead: walletMethod({
    name: "set_subaddress_lookahead",
    scope: "admin",
    needs: onOwnSpendKey,
    summary: "Sets how many accounts and addresses beyond those in use are recognised, in the keys file too.",
    params: object({ password: zero(text), major_idx: zero(uint32), minor_idx: zero(uint32) }),
    result: nothing,
  }),
  generateFromKeys: walletMethod({
    name: "generate_from_keys",
    scope: "admin",
    reach: "filename",
    needs: onOwnService,
    summary: "Creates a wallet from its keys; without the spend key it can only view.",
    params: object({
      restore_height: or(uint, 0),
      filename: zero(text),
      address: zero(text),
      spendkey: zero(text),
      viewkey: zero(text),
      password: zero(text),
      ...autosave,
      language: zero(text),
    }),
    result: object({ address: text, info: text }),
  }),
  restoreDeterministicWallet: walletMethod({
    name: "restore_deterministic_wallet",
    scope: "admin",
    reach: "filename",
    needs: onOwnService,
    summary: "Creates a wallet from its seed.",
    params: object({
      restore_height: or(uint, 0),
      filename: zero(text),
      seed: zero(text),
      seed_offset: zero(text),
      password: zero(text),
      language: zero(text),
      enable_multisig_experimental: or(flag, false),
      ...autosave,
    }),
    result: object({ address: text, info: text, seed: text, was_deprecated: flag }),
  }),
};
