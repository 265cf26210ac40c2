/** How much text callers can have a wallet store, in however many calls. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { createLedger } from "../src/ledger/ledger.ts";
import { costOf, TextRoom } from "../src/ledger/text-room.ts";
import { startTestService } from "./service.ts";

const settings = { seedLanguage: "English", refreshFromHeight: 0 };
const refused = { message: /^the labels, notes and other texts of a wallet have at most 1000 characters/ };

test("texts are stored as long as there is room for all of them", async () => {
  const { state } = createLedger("regtest", settings);
  const room = new TextRoom(state, 1000);
  const store = async (key: string, value: string) => {
    await room.during(costOf(key, value), async () => state.attributes.set(key, value));
  };
  await store("a", "x".repeat(380));
  await store("b", "x".repeat(380));
  await assert.rejects(store("c", "x".repeat(100)), refused);
  await store("c", "");
  await assert.rejects(store("d", ""), refused);
});

test("what was replaced or deleted makes room", async () => {
  const { state } = createLedger("regtest", settings);
  const room = new TextRoom(state, 1000);
  for (let i = 0; i < 100; i++) {
    const value = "x".repeat(380);
    await room.during(costOf("a", value), async () => state.attributes.set("a", value));
  }
});

test("calls that store texts at the same time have no more room together, also while it is counted anew", async () => {
  const { state } = createLedger("regtest", settings);
  const room = new TextRoom(state, 1000);
  let goOn = () => {};
  const held = new Promise<void>((resolve) => {
    goOn = resolve;
  });
  const store = (key: string) =>
    room.during(costOf(key, "x".repeat(380)), async () => {
      await held;
      state.attributes.set(key, "x".repeat(380));
    });
  const two = [store("a"), store("b")];
  for (let i = 0; i < 3; i++) await assert.rejects(store("c"), refused);
  goOn();
  await Promise.all(two);
  await assert.rejects(store("c"), refused);
  assert.equal(state.attributes.size, 2);
});

test("texts of every kind count, those of before included", async () => {
  const text = "x".repeat(900);
  const kinds: ((state: ReturnType<typeof createLedger>["state"]) => void)[] = [
    ({ accounts }) => void accounts[0]!.addresses.push({ label: text }),
    ({ accounts }) => void accounts.push({ tag: text, addresses: [] }),
    ({ accountTags }) => accountTags.set("t", text),
    ({ notes }) => notes.set("n", text),
    ({ attributes }) => attributes.set(text, ""),
    ({ addressBook }) => void addressBook.push({ address: "", description: text, paymentId: "" }),
  ];
  for (const fill of kinds) {
    const { state } = createLedger("regtest", settings);
    const room = new TextRoom(state, 1000);
    fill(state);
    const store = async () => "stored";
    await assert.rejects(room.during(100, store), refused);
    assert.equal(await room.during(0, store), "stored");
  }
});

test("each call that stores a text takes room for it", async (t) => {
  const { call, service, stop } = await startTestService();
  t.after(stop);
  await call.createWallet({ filename: "", password: "", language: "English" });
  const taken: number[] = [];
  const { texts } = service.opened!.wallet;
  texts.during = (characters, store) => {
    taken.push(characters);
    return store();
  };
  const { address } = await call.getAddress({ account_index: 0 });
  const index = { major: 0, minor: 0 };
  const text = "x".repeat(100);
  for (const store of [
    () => call.createAddress({ account_index: 0, label: text, count: 3 }),
    () => call.labelAddress({ index, label: text }),
    () => call.createAccount({ label: text }),
    () => call.labelAccount({ account_index: 0, label: text }),
    () => call.tagAccounts({ tag: text, accounts: [0] }),
    () => call.setAccountTagDescription({ tag: text, description: text }),
    () => call.setAttribute({ key: "k", value: text }),
    () => call.setTxNotes({ txids: ["00".repeat(32)], notes: [text] }),
    () => call.addAddressBook({ address, description: text }),
    () => call.editAddressBook({ index: 0, set_description: true, description: text }),
  ]) {
    taken.length = 0;
    await store();
    const sum = taken.reduce((a, b) => a + b, 0);
    assert.ok(sum >= 100, `${store}: ${sum}`);
  }
});
