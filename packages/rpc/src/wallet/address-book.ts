import { costs } from "../costs.ts";
import { list, object, zero } from "../schema/composites.ts";
import { flag, text, uint } from "../schema/scalars.ts";
import { nothing, onOwnSpendKey, onSpendKey, walletMethod } from "./fields.ts";

/** Addresses kept with a description. */
export const addressBook = {
  getAddressBook: walletMethod({
    name: "get_address_book",
    scope: "read",
    cost: costs.large,
    reads: true,
    needs: onSpendKey,
    summary: "Entries of the address book, by index; all of them when none is named.",
    params: object({ entries: zero(list(uint)) }),
    result: object({
      entries: list(object({ address: text, description: text, index: uint, payment_id: text })),
    }),
  }),
  addAddressBook: walletMethod({
    name: "add_address_book",
    scope: "spend",
    needs: onOwnSpendKey,
    summary: "Adds an entry.",
    params: object({ address: text, payment_id: zero(text), description: zero(text) }),
    result: object({ index: uint }),
  }),
  editAddressBook: walletMethod({
    name: "edit_address_book",
    scope: "spend",
    needs: onOwnSpendKey,
    summary: "Changes the parts of an entry whose flag is set.",
    params: object({
      index: uint,
      set_address: zero(flag),
      address: zero(text),
      set_description: zero(flag),
      description: zero(text),
      set_payment_id: zero(flag),
      payment_id: zero(text),
    }),
    result: nothing,
  }),
  deleteAddressBook: walletMethod({
    name: "delete_address_book",
    scope: "spend",
    needs: onOwnSpendKey,
    summary: "Removes an entry.",
    params: object({ index: uint }),
    result: nothing,
  }),
};
