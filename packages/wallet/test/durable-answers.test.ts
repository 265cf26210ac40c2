/** No call that changes a wallet is answered before each change it makes is on disk: the store is held back meanwhile. */
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { setImmediate as nextTurn } from "node:timers/promises";
import { walletMethods } from "@anulo/rpc";
import { RowLog } from "../src/file/row-log.ts";
import { recorded, startRecordedNode } from "./recorded-node.ts";
import { startTestService, type TestService } from "./service.ts";

type Key = keyof TestService["call"] & keyof typeof walletMethods;

/** Turns in which an answer that does not wait would have arrived. */
const TURNS = 100;

const note = { txids: ["5c".repeat(32)], notes: ["a note"] };
const { address } = recorded.wallets.b!;

/** In this order, of a wallet that has seen the recorded chain. */
const requests = (key_image: string): Partial<Record<Key, object>> => ({
  createAddress: { account_index: 0, label: "till", count: 3 },
  labelAddress: { index: { major: 0, minor: 1 }, label: "other" },
  createAccount: { label: "shop" },
  labelAccount: { account_index: 1, label: "other" },
  tagAccounts: { tag: "tag", accounts: [1] },
  setAccountTagDescription: { tag: "tag", description: "of no matter" },
  untagAccounts: { accounts: [1] },
  setTxNotes: note,
  setAttribute: { key: "key", value: "value" },
  addAddressBook: { address, description: "b" },
  editAddressBook: { index: 0, set_description: true, description: "other" },
  deleteAddressBook: { index: 0 },
  freeze: { key_image },
  thaw: { key_image },
  rescanBlockchain: {},
});

const signing =
  "signs or takes what others have signed: test/e2e/signers-crash.test.ts kills it at each step";
const paying = "needs a node with decoys: test/e2e/payer.test.ts and wallet-crash.test.ts";
const files = "is about files of the wallet: files.test.ts, file-system.test.ts";
const elsewhere = "keeps what it changes elsewhere than in the wallet's store";
const unchanged = "changes nothing where there is nothing new, as here";

const others: Partial<Record<Key, string>> = {
  transfer: paying,
  transferSplit: paying,
  sweepDust: paying,
  sweepAll: paying,
  sweepSingle: paying,
  relayTx: paying,
  signTransfer: signing,
  submitTransfer: signing,
  importOutputs: signing,
  importKeyImages: signing,
  prepareMultisig: signing,
  makeMultisig: signing,
  finalizeMultisig: signing,
  exchangeMultisigKeys: signing,
  exportMultisigInfo: signing,
  importMultisigInfo: signing,
  signMultisig: signing,
  submitMultisig: signing,
  store: files,
  createWallet: files,
  openWallet: files,
  closeWallet: files,
  changeWalletPassword: files,
  setSubaddressLookahead: files,
  generateFromKeys: files,
  restoreDeterministicWallet: files,
  setupBackgroundSync: files,
  startBackgroundSync: files,
  stopBackgroundSync: files,
  addWebhook: elsewhere,
  removeWebhook: elsewhere,
  enableWebhook: elsewhere,
  replayDeadLetters: elsewhere,
  createToken: elsewhere,
  revokeToken: elsewhere,
  setDaemon: elsewhere,
  autoRefresh: elsewhere,
  startMining: elsewhere,
  stopMining: elsewhere,
  stopWallet: elsewhere,
  setLogLevel: elsewhere,
  setLogCategories: elsewhere,
  refresh: unchanged,
  scanTx: unchanged,
  rescanSpent: unchanged,
};

/** Holds back what is told of each change that is written, until it is let go. */
function heldStore(t: TestContext) {
  const { append } = RowLog.prototype;
  const held: (() => void)[] = [];
  let isHeld = false;
  t.mock.method(RowLog.prototype, "append", async function (this: RowLog) {
    await append.call(this);
    if (isHeld) await new Promise<void>((resolve) => held.push(resolve));
  });
  return {
    hold: (now: boolean) => {
      isHeld = now;
    },
    held,
  };
}

test("each call that changes a wallet waits until all of its changes are on disk", async (t) => {
  const node = await startRecordedNode();
  t.after(node.stop);
  node.pool = [];
  const folder = mkdtempSync(join(tmpdir(), "anulo-durable-"));
  const location = join(folder, ".anulo-store", "wallets.mdb");
  const store = { location, folder: join(folder, ".anulo-store"), role: "folder" } as const;
  const { call, stop } = await startTestService({ node: node.url, folder, store });
  t.after(async () => {
    await stop();
    rmSync(folder, { recursive: true });
  });
  const { mnemonic } = recorded.wallets.a!;
  await call.restoreDeterministicWallet({ filename: "w", seed: mnemonic, restore_height: 0 });
  await call.refresh({});
  const { transfers } = await call.incomingTransfers({ transfer_type: "available" });
  const { held, hold } = heldStore(t);
  for (const [key, request] of Object.entries(requests(transfers![0]!.key_image))) {
    let isAnswered = false;
    let changes = 0;
    hold(true);
    const answer = (call[key as Key] as (params: object) => Promise<unknown>)(request).finally(() => {
      isAnswered = true;
    });
    while (!isAnswered) {
      await nextTurn();
      if (held.length === 0) continue;
      for (let turn = 0; turn < TURNS; turn++) await nextTurn();
      assert.equal(isAnswered, false, `${key} is answered before its change is on disk`);
      changes += held.length;
      for (const letGo of held.splice(0)) letGo();
    }
    hold(false);
    await answer;
    assert.ok(changes > 0, `${key} has changed nothing`);
  }
});

test("every call that changes something is tried here, or elsewhere", () => {
  const known = new Set([...Object.keys(requests("")), ...Object.keys(others)]);
  for (const [key, { reads }] of Object.entries(walletMethods)) assert.equal(known.has(key), !reads, key);
});
