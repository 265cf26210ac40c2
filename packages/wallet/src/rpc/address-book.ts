/** The address book. Declarations: @anulo/rpc wallet/address-book. */
import { isDeepStrictEqual } from "node:util";
import { type Address, BadAddress, parseAddress, toHex } from "@anulo/protocol";
import { wallet as declared, implementFor } from "@anulo/rpc";
import { costOf } from "../ledger/text-room.ts";
import { resolveAddress } from "../open-alias.ts";
import { WalletRefusal } from "../refusal.ts";
import type { WalletContext } from "../service.ts";
import type { AddressBookEntry } from "../state.ts";
import type { Wallet } from "../wallet.ts";
import { storeText } from "./kept-texts.ts";

const NO_PAYMENT_ID = "0".repeat(64);

function checkAddress(wallet: Wallet, text: string): Address {
  try {
    return parseAddress(text, wallet.network);
  } catch (error) {
    if (!(error instanceof BadAddress)) throw error;
    throw new WalletRefusal("WRONG_ADDRESS", `WALLET_RPC_ERROR_CODE_WRONG_ADDRESS: ${text}`);
  }
}

function checkPaymentId(text: string): string {
  if (!/^([0-9a-f]{16}|[0-9a-f]{64})?$/i.test(text)) {
    throw new WalletRefusal("WRONG_PAYMENT_ID", `Payment ID has invalid format: ${text}`);
  }
  return text.toLowerCase();
}

function checkIndex({ state }: Wallet, index: number): AddressBookEntry {
  const entry = state.addressBook[index];
  if (entry === undefined) throw new WalletRefusal("WRONG_INDEX", `Index out of range: ${index}`);
  return entry;
}

/** An integrated address contains its own id. */
function paymentIdOf(wallet: Wallet, entry: AddressBookEntry): string {
  if (entry.paymentId !== "") return entry.paymentId.padEnd(64, "0");
  const address = parseAddress(entry.address, wallet.network);
  return address.kind === "integrated" ? toHex(address.paymentId).padEnd(64, "0") : NO_PAYMENT_ID;
}

/** The payment id in an integrated address replaces an earlier one that was stored beside the address. */
function editedAddress(wallet: Wallet, text: string): Partial<AddressBookEntry> {
  const { kind } = checkAddress(wallet, text);
  return { address: text, ...(kind === "integrated" && { paymentId: "" }) };
}

function describe(wallet: Wallet, index: number) {
  const entry = checkIndex(wallet, index);
  const { address, description } = entry;
  return { address, description, index, payment_id: paymentIdOf(wallet, entry) };
}

export const addressBookHandlers = implementFor<WalletContext>()(declared.addressBook, {
  getAddressBook({ entries }, { opened: { wallet } }) {
    const indices = entries.length > 0 ? entries : wallet.state.addressBook.map((_, index) => index);
    return { entries: indices.map((index) => describe(wallet, index)) };
  },
  async addAddressBook({ address: text, payment_id, description }, { opened: { wallet }, service }) {
    const add = async () => {
      const address = await resolveAddress(text, service);
      checkAddress(wallet, address);
      const entries = [
        ...wallet.state.addressBook,
        { address, description, paymentId: checkPaymentId(payment_id) },
      ];
      await wallet.commit({ kind: "addressBook", entries });
      return { index: entries.length - 1 };
    };
    return await storeText({ wallet, what: "description", text: description }, () =>
      wallet.texts.during(costOf(text), add),
    );
  },
  async editAddressBook(params, { opened: { wallet }, service }) {
    const text = params.set_description ? params.description : "";
    await storeText({ wallet, what: "description", text }, async () => {
      const before = checkIndex(wallet, params.index);
      const address = params.set_address ? await resolveAddress(params.address, service) : undefined;
      // While the name was looked up another call may have moved the entries.
      const old = checkIndex(wallet, params.index);
      if (!isDeepStrictEqual(old, before))
        throw new WalletRefusal("UNKNOWN_ERROR", "the entry has changed, or others have moved, meanwhile");
      const edited = {
        ...old,
        ...(address !== undefined ? editedAddress(wallet, address) : {}),
        ...(params.set_description ? { description: params.description } : {}),
        ...(params.set_payment_id ? { paymentId: checkPaymentId(params.payment_id) } : {}),
      };
      await wallet.commit({
        kind: "addressBook",
        entries: wallet.state.addressBook.with(params.index, edited),
      });
    });
    return {};
  },
  async deleteAddressBook({ index }, { opened: { wallet } }) {
    checkIndex(wallet, index);
    await wallet.commit({ kind: "addressBook", entries: wallet.state.addressBook.toSpliced(index, 1) });
    return {};
  },
});
