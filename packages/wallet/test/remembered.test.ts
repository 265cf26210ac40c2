import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { CachedFacts } from "../src/cached-facts.ts";
import { cachedAnswer, rememberedPatiently } from "../src/rpc/remembered.ts";
import {
  type RecordedNode,
  recorded,
  recordedChain,
  recordedSideBlocks,
  startRecordedNode,
} from "./recorded-node.ts";
import { startTestService, type TestService } from "./service.ts";

let node: RecordedNode;
let started: TestService;

before(async () => {
  node = await startRecordedNode();
  started = await startTestService({ node: node.url });
  await restore("a");
});
after(async () => {
  await started.stop();
  await node.stop();
});

async function restore(name: string): Promise<void> {
  const { mnemonic } = recorded.wallets[name]!;
  await started.call.restoreDeterministicWallet({ filename: name, seed: mnemonic });
  await started.call.refresh({});
}

const everything = { in: true, out: true, pending: true, failed: true };

test("a remembered answer is given again as it was", async () => {
  const { call } = started;
  for (const ask of [
    () => call.getBalance({ all_accounts: true }),
    () => call.getAddress({}),
    () => call.getTransfers(everything),
    () => call.incomingTransfers({ transfer_type: "all" }),
  ]) {
    const first = await ask();
    assert.deepEqual(await ask(), first);
    assert.deepEqual(await ask(), first);
  }
});

test("questions that differ are answered apart", async () => {
  const { call } = started;
  const [all, available] = [
    await call.incomingTransfers({ transfer_type: "all" }),
    await call.incomingTransfers({ transfer_type: "available" }),
  ];
  assert.ok(all.transfers.length > available.transfers.length);
  assert.deepEqual(await call.incomingTransfers({ transfer_type: "all" }), all);
  assert.equal((await call.getAddress({ address_index: [0] })).addresses.length, 1);
  assert.ok((await call.getAddress({})).addresses.length > 1);
});

test("the balance of any address is told, of at most 1,000 that the account does not have", async () => {
  const { call } = started;
  const owned = (await call.getAddress({})).addresses.length;
  const from = (first: number, count: number) => Array.from({ length: count }, (_, i) => first + 2 * i);
  const asked = [0, ...from(owned, 1000)];
  const { per_subaddress } = await call.getBalance({ address_indices: asked });
  assert.deepEqual(
    per_subaddress.map(({ address_index }) => address_index),
    asked,
  );
  assert.equal(new Set(per_subaddress.map(({ address }) => address)).size, asked.length);
  const refusal = { code: -15, message: /1000 address indices/ };
  await assert.rejects(call.getBalance({ address_indices: from(owned, 1001) }), refusal);
  await assert.rejects(call.getBalance({ account_index: 77, address_indices: from(0, 1001) }), refusal);
  // The address that it has by then is the one that was computed before.
  const { address } = await call.createAddress({ account_index: 0 });
  assert.equal(address, per_subaddress[1]?.address);
});

test("what changes in the wallet is told at once: labels, addresses, notes, frozen outputs", async () => {
  const { call } = started;
  const { addresses } = await call.getAddress({});
  await call.labelAddress({ index: { major: 0, minor: 0 }, label: "renamed" });
  assert.equal((await call.getAddress({})).addresses[0]?.label, "renamed");
  await call.createAddress({ account_index: 0, label: "more" });
  assert.equal((await call.getAddress({})).addresses.length, addresses.length + 1);

  const { txid } = (await call.getTransfers(everything)).in![0]!;
  await call.setTxNotes({ txids: [txid], notes: ["for the rent"] });
  assert.equal((await call.getTransfers(everything)).in![0]?.note, "for the rent");

  const { transfers } = await call.incomingTransfers({ transfer_type: "available" });
  const { key_image, amount } = transfers.find(({ unlocked }) => unlocked)!;
  const { balance } = await call.getBalance({ account_index: 0 });
  const lettersOfReserve = async () => (await call.getReserveProof({ all: true })).signature.length;
  const letters = await lettersOfReserve();
  await call.freeze({ key_image });
  assert.ok((await lettersOfReserve()) < letters);
  assert.equal((await call.getBalance({ account_index: 0 })).balance, balance - amount);
  const again = await call.incomingTransfers({ transfer_type: "available" });
  assert.equal(again.transfers.find((each) => each.key_image === key_image)?.frozen, true);
  await call.thaw({ key_image });
  assert.equal(await lettersOfReserve(), letters);
  assert.equal((await call.getBalance({ account_index: 0 })).balance, balance);
});

test("a reorganisation is told at once", async () => {
  const { call } = started;
  const before = await call.getTransfers(everything);
  node.chain = [...recordedChain.slice(0, 103), ...recordedSideBlocks];
  await call.refresh({});
  const forked = await call.getTransfers(everything);
  assert.notDeepEqual(
    forked.in!.map(({ confirmations }) => confirmations),
    before.in!.map(({ confirmations }) => confirmations),
  );
  node.chain = recordedChain;
  await call.refresh({});
  assert.deepEqual(await call.getTransfers(everything), before);
});

test("a wallet opened after another finds what is its own, in the same thread", async () => {
  const { call } = started;
  const ofA = await call.getBalance({ all_accounts: true });
  await restore("b");
  const ofB = await call.getBalance({ all_accounts: true });
  assert.notEqual(ofB.balance, ofA.balance);
  const primary = recorded.wallets.a!.address;
  await assert.rejects(call.getAddressIndex({ address: primary }));
  await call.rescanBlockchain({});
  assert.equal((await call.getBalance({ all_accounts: true })).balance, ofB.balance);
  await call.openWallet({ filename: "a" });
  assert.deepEqual(await call.getBalance({ all_accounts: true }), ofA);
  assert.deepEqual((await call.getAddressIndex({ address: primary })).index, { major: 0, minor: 0 });
});

test("an answer stands while what it is made of does, though the wallet has moved on", () => {
  let moment = {};
  const wallet = { facts: new CachedFacts(() => moment) };
  let basis: unknown[] = [1, "label"];
  let made = 0;
  const ask = (name: string) => {
    const question = { name, params: {}, ...(name === "looked at" && { basis: () => basis }) };
    return cachedAnswer(wallet, question, () => ({ made: ++made })).facts;
  };
  const first = ask("looked at");
  const other = ask("not looked at");
  assert.equal(ask("not looked at"), other);
  moment = {};
  assert.equal(ask("looked at"), first);
  assert.notEqual(ask("not looked at"), other);
  moment = {};
  basis = [1, "another"];
  assert.notEqual(ask("looked at"), first);
});

test("an answer that could not be computed is not given again", async () => {
  const moment = {};
  const wallet = { facts: new CachedFacts(() => moment) };
  const question = { name: "long", params: {} };
  const failing = async (): Promise<object> => {
    throw new Error("the store is away");
  };
  await assert.rejects(rememberedPatiently(wallet, question, failing), /away/);
  const { facts } = await rememberedPatiently(wallet, question, async () => ({ made: 1 }));
  assert.deepEqual(facts, { made: 1 });
  assert.equal((await rememberedPatiently(wallet, question, failing)).facts, facts);
});
