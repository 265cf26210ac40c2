import { method } from "../define.ts";
import { filled, list, object, or, zero } from "../schema/composites.ts";
import { flag, text, uint } from "../schema/scalars.ts";
import { nothing, onOpenWallet, onOwnWallet } from "./fields.ts";

const autosave = { autosave_current: or(flag, true) };

/** Wallet files: creating, opening, restoring, closing. */
export const files = {
  getLanguages: method({
    name: "get_languages",
    reads: true,
    summary: "Languages a seed can be written in.",
    params: nothing,
    result: object({ languages: list(text), languages_local: filled(list(text)) }),
  }),
  createWallet: method({
    name: "create_wallet",
    summary: "Creates a wallet with new keys and opens it.",
    params: object({ filename: text, password: zero(text), language: text }),
    result: nothing,
  }),
  openWallet: method({
    name: "open_wallet",
    summary: "Opens a wallet of the wallet directory.",
    params: object({ filename: text, password: zero(text), ...autosave }),
    result: nothing,
  }),
  closeWallet: method({
    name: "close_wallet",
    needs: onOpenWallet,
    summary: "Saves and closes the wallet.",
    params: object(autosave),
    result: nothing,
  }),
  changeWalletPassword: method({
    name: "change_wallet_password",
    needs: onOwnWallet,
    summary: "Changes the password of the wallet file.",
    params: object({ old_password: zero(text), new_password: zero(text) }),
    result: nothing,
  }),
  generateFromKeys: method({
    name: "generate_from_keys",
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
  restoreDeterministicWallet: method({
    name: "restore_deterministic_wallet",
    summary: "Creates a wallet from its seed.",
    params: object({
      restore_height: or(uint, 0),
      filename: zero(text),
      seed: zero(text),
      seed_offset: zero(text),
      password: zero(text),
      language: zero(text),
      ...autosave,
    }),
    result: object({ address: text, info: text, seed: text, was_deprecated: flag }),
  }),
};
