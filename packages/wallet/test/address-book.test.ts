/** The address book: what it refuses, and changes while a name is looked up for one of its entries. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { formatAddress } from "@anulo/protocol";
import type { WalletChange } from "../src/changes.ts";
import { createKeys } from "../src/keys/wallet-keys.ts";
import { applyChange } from "../src/ledger/apply-change.ts";
import { createLedger } from "../src/ledger/ledger.ts";
import { TextRoom } from "../src/ledger/text-room.ts";
import { addressBookHandlers } from "../src/rpc/address-book.ts";
import type { WalletContext } from "../src/service.ts";
import { seededRandom } from "./transfer-fixture.ts";

const random = seededRandom("address book");
const [first, second, third, other] = Array.from({ length: 4 }, () =>
  formatAddress({ kind: "standard", ...createKeys(random) }, "regtest"),
);

function start() {
  const ledger = createLedger("regtest", { seedLanguage: "", refreshFromHeight: 0 });
  const commit = async (change: WalletChange) => applyChange(ledger, change);
  const texts = new TextRoom(ledger.state);
  const wallet = { state: ledger.state, network: "regtest", commit, texts };
  const context = {
    opened: { wallet },
    service: { opened: { wallet }, options: { network: "regtest", daemon: { url: "" } } },
  } as unknown as WalletContext;
  const ask = async (name: string, params: object): Promise<object> => {
    const { handler } = addressBookHandlers.find(({ call }) => call.name === name)!;
    return await (handler as (params: object, context: WalletContext) => Promise<object>)(params, context);
  };
  const addresses = () => ledger.state.addressBook.map(({ address }) => address);
  return { ask, addresses };
}

test("an entry gets no address that was meant for another, which others have moved meanwhile", async () => {
  const { ask, addresses } = start();
  for (const address of [first, second, third])
    await ask("add_address_book", { address, description: "", payment_id: "" });
  const edit = { index: 1, set_address: true, address: other };
  const change = ask("edit_address_book", edit);
  const removed = ask("delete_address_book", { index: 0 });
  await assert.rejects(change, /others have moved/);
  await removed;
  assert.deepEqual(addresses(), [second, third]);
  await ask("edit_address_book", edit);
  assert.deepEqual(addresses(), [second, other]);
});

test("a payment ID has 16 or 64 hexadecimal digits, or none", async () => {
  const { ask, addresses } = start();
  for (const digits of [1, 15, 17, 63, 65]) {
    const entry = { address: first, description: "", payment_id: "a".repeat(digits) };
    await assert.rejects(ask("add_address_book", entry), /Payment ID has invalid format/, `${digits} digits`);
  }
  const wrong = { address: first, description: "", payment_id: "g".repeat(16) };
  await assert.rejects(ask("add_address_book", wrong), /Payment ID has invalid format/);
  assert.deepEqual(addresses(), [], "an entry that is refused is not added");
  for (const digits of [0, 16, 64])
    await ask("add_address_book", { address: first, description: "", payment_id: "a".repeat(digits) });
  assert.equal(addresses().length, 3);
});
