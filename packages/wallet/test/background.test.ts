import assert from "node:assert/strict";
import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { fromHex } from "@anulo/protocol";
import { foundFor } from "../src/file/background-copy.ts";
import { DamagedJournal, Journal } from "../src/file/journal.ts";
import { RecentBlocks } from "../src/packed/block-ids.ts";
import type { BackgroundScan, WalletState } from "../src/state.ts";
import {
  type Entry,
  forkedChain,
  recorded,
  recordedChain,
  startRecordedNode,
  withBlock,
} from "./recorded-node.ts";
import { startTestService, type TestService } from "./service.ts";

const { mnemonic } = recorded.wallets.a!;
const types = ["reuse-wallet-password", "custom-background-password"] as const;
const passwords = { filename: "w", password: "own" };
const setup = (background_sync_type: string, background_cache_password = "b") => ({
  background_sync_type,
  wallet_password: "own",
  background_cache_password,
});

const rejects = (promise: Promise<unknown>, code: number) =>
  assert.rejects(promise, (error: { code?: number }) => error.code === code);

/** What a wallet says of the chain. */
async function told({ call }: TestService) {
  const { balance } = await call.getBalance({ account_index: 0 });
  const { in: received = [], out = [] } = await call.getTransfers({
    in: true,
    out: true,
    all_accounts: true,
  });
  const { transfers = [] } = await call.incomingTransfers({ transfer_type: "all" });
  const { height } = await call.getHeight();
  return { height, balance, received, out, transfers };
}

async function restore(service: TestService, filename = "w"): Promise<void> {
  const seed = { seed: mnemonic, restore_height: 0 };
  await service.call.restoreDeterministicWallet({ ...passwords, filename, ...seed });
}

/** What a wallet that has its spend secret knows of the recorded chain. */
async function truth(url: string, t: TestContext) {
  const service = await startTestService({ node: url }, t);
  await restore(service);
  await service.call.refresh({});
  return await told(service);
}

/** A node that answers until it is stopped. */
async function nodeFor(t: TestContext) {
  const node = await startRecordedNode();
  node.pool = []; // which is not looked at in the background
  let isUp = true;
  const stop = async () => {
    if (isUp) await node.stop();
    isUp = false;
  };
  t.after(stop);
  return Object.assign(node, { silence: stop });
}

for (const type of types) {
  for (const filename of ["w", ""]) {
    const where = filename === "" ? "in memory" : "with files";
    test(`${type}, ${where}: spends are known once the key is back, without the node`, async (t) => {
      const node = await nodeFor(t);
      const expected = await truth(node.url, t);
      assert.ok(expected.out.length > 0);
      const service = await startTestService({ node: node.url }, t);
      const { call } = service;
      await restore(service, filename);
      await call.setupBackgroundSync(setup(type));
      const { spendSecret } = service.service.opened!.wallet.signer.keys;
      await call.startBackgroundSync();
      assert.deepEqual(spendSecret, new Uint8Array(32), "the spend secret is overwritten");
      await call.refresh({});
      const meanwhile = await told(service);
      assert.equal(meanwhile.height, expected.height);
      assert.ok(meanwhile.balance > expected.balance);
      assert.deepEqual(meanwhile.out, []);
      assert.ok(meanwhile.transfers.every((it) => it.key_image === "" && !it.spent));
      assert.equal(meanwhile.transfers.length, expected.transfers.length);
      await rejects(call.queryKey({ key_type: "spend_key" }), -52);
      await rejects(call.transfer({ destinations: [] }), -52);
      await node.silence();
      await rejects(call.stopBackgroundSync({ wallet_password: "b" }), -22);
      if (filename === "") await rejects(call.stopBackgroundSync({ wallet_password: "own" }), -1);
      const seed = filename === "" ? { seed: mnemonic } : {};
      await call.stopBackgroundSync({ wallet_password: "own", ...seed });
      assert.deepEqual(await told(service), expected);
      assert.equal((await call.queryKey({ key_type: "mnemonic" })).key, mnemonic);
    });
  }

  test(`${type}: a wallet killed while it scanned in the background has lost nothing`, async (t) => {
    const node = await nodeFor(t);
    const expected = await truth(node.url, t);
    const first = await startTestService({ node: node.url }, t);
    await restore(first);
    await first.call.setupBackgroundSync(setup(type));
    await first.call.startBackgroundSync();
    await first.call.refresh({});
    const folder = mkdtempSync(join(tmpdir(), "anulo-background-"));
    t.after(() => rmSync(folder, { recursive: true, force: true }));
    cpSync(first.folder, folder, { recursive: true }); // what a killed process would leave
    for (const name of readdirSync(folder)) if (name.endsWith(".lock")) rmSync(join(folder, name));
    await node.silence();
    const again = await startTestService({ node: node.url, folder }, t);
    await again.call.openWallet(passwords);
    assert.deepEqual(await told(again), expected);
    await again.call.closeWallet({});
    await again.call.openWallet(passwords);
    assert.deepEqual(await told(again), expected);
  });

  test(`${type}: a reorganisation while the key is away`, async (t) => {
    const node = await nodeFor(t);
    const at = recordedChain.length - 3;
    const service = await startTestService({ node: node.url }, t);
    await restore(service);
    await service.call.refresh({});
    await service.call.setupBackgroundSync(setup(type));
    await service.call.startBackgroundSync();
    node.chain = forkedChain(at);
    await service.call.refresh({});
    await service.call.stopBackgroundSync({ wallet_password: "own" });
    assert.deepEqual(await told(service), await truth(node.url, t));
  });
}

test("a payment that a reorganisation has undone while the key was away has failed, where it can't be sent again", async (t) => {
  const node = await nodeFor(t);
  const service = await startTestService({ node: node.url }, t);
  const { call } = service;
  await restore(service);
  await call.refresh({});
  const { txid, height } = (await told(service)).out.at(-1)!;
  // As of a payment made here, whose bytes are forgotten by now.
  await service.service.opened!.wallet.commit({ kind: "txKeys", txHash: txid, txKeys: [new Uint8Array(32)] });
  await call.setupBackgroundSync(setup("reuse-wallet-password"));
  await call.startBackgroundSync();
  node.chain = Array.from({ length: 5 }).reduce<Entry[]>(
    (blocks) => withBlock(blocks, []),
    recordedChain.slice(0, Number(height)),
  );
  await call.refresh({});
  await call.stopBackgroundSync({ wallet_password: "own" });
  const { failed = [], pending = [] } = await call.getTransfers({ failed: true, pending: true });
  assert.deepEqual([failed.map((each) => each.txid), pending], [[txid], []]);
});

test("a wallet killed as it takes its key back scans these blocks once more", async (t) => {
  const node = await nodeFor(t);
  const expected = await truth(node.url, t);
  const service = await startTestService({ node: node.url }, t);
  const { call } = service;
  await restore(service);
  await call.setupBackgroundSync(setup("reuse-wallet-password"));
  await call.startBackgroundSync();
  await call.refresh({});
  // The first of what is written as the key comes back, and nothing after it.
  await service.service.opened!.wallet.commit({ kind: "backgroundEnds" });
  await call.closeWallet({});
  await call.openWallet(passwords);
  assert.equal((await told(service)).height, 1);
  await call.refresh({});
  assert.deepEqual(await told(service), expected);
});

test("a background wallet has its own password, and neither key nor notes of the other", async (t) => {
  const node = await nodeFor(t);
  const expected = await truth(node.url, t);
  const service = await startTestService({ node: node.url }, t);
  const { call, folder } = service;
  await restore(service);
  await call.setTxNotes({ txids: ["5c".repeat(32)], notes: ["a note"] });
  await call.setAttribute({ key: "k", value: "a secret" });
  await call.setupBackgroundSync(setup("custom-background-password"));
  await call.closeWallet({});
  await rejects(call.openWallet({ filename: "w.background", password: "own" }), -1);
  await call.openWallet({ filename: "w.background", password: "b" });
  await rejects(call.queryKey({ key_type: "mnemonic" }), -51);
  await rejects(call.getAddressBook({}), -51);
  await rejects(call.stopBackgroundSync({ wallet_password: "b", seed: mnemonic }), -1);
  assert.deepEqual((await call.getTxNotes({ txids: ["5c".repeat(32)] })).notes, [""]);
  await rejects(call.getAttribute({ key: "k" }), -45);
  await call.refresh({});
  assert.ok((await told(service)).balance > expected.balance);
  const viewKey = fromHex((await call.queryKey({ key_type: "view_key" })).key);
  await call.closeWallet({});
  // Its view key opens its own journal, and not the other's.
  const own = await Journal.open(join(folder, "w.background.anulo"), viewKey);
  await own.journal.close();
  const plain = Buffer.concat(own.records).toString("latin1");
  assert.ok(!plain.includes("a note") && !plain.includes("a secret"));
  await assert.rejects(Journal.open(join(folder, "w.anulo"), viewKey), DamagedJournal);
  await node.silence();
  await call.openWallet(passwords);
  assert.deepEqual(await told(service), expected);
  assert.equal((await call.getAttribute({ key: "k" })).value, "a secret");
});

test("the background wallet goes on from where the other is closed", async (t) => {
  const node = await nodeFor(t);
  const expected = await truth(node.url, t);
  const service = await startTestService({ node: node.url }, t);
  await restore(service);
  await service.call.setupBackgroundSync(setup("custom-background-password"));
  await service.call.refresh({});
  await service.call.closeWallet({});
  await node.silence();
  await service.call.openWallet({ filename: "w.background", password: "b" });
  assert.deepEqual(await told(service), expected);
});

test("each file of a background wallet that is missing is written when the other is opened", async (t) => {
  const node = await nodeFor(t);
  const service = await startTestService({ node: node.url }, t);
  const { call, folder } = service;
  await restore(service);
  await call.setupBackgroundSync(setup("custom-background-password"));
  for (const name of ["w.background", "w.background.keys", "w.background.anulo"]) {
    await call.closeWallet({});
    rmSync(join(folder, name));
    await call.openWallet(passwords);
    assert.ok(existsSync(join(folder, name)), name);
  }
});

test("what is turned off leaves no file, and a type that is set stays", async (t) => {
  const node = await nodeFor(t);
  const service = await startTestService({ node: node.url }, t);
  const { call, folder } = service;
  await restore(service);
  const names = ["w.background", "w.background.keys", "w.background.anulo"];
  const there = () => names.filter((name) => existsSync(join(folder, name)));
  await rejects(call.setupBackgroundSync(setup("custom-background-password", "own")), -1);
  assert.deepEqual(there(), []);
  await call.setupBackgroundSync(setup("custom-background-password"));
  assert.deepEqual(there(), names);
  const before = readFileSync(join(folder, "w.background.keys"));
  await call.setSubaddressLookahead({ password: "own", major_idx: 3, minor_idx: 4 });
  assert.notDeepEqual(readFileSync(join(folder, "w.background.keys")), before, "settings go there too");
  await call.closeWallet({});
  for (const name of names) rmSync(join(folder, name));
  await call.openWallet(passwords);
  assert.deepEqual(there(), names, "made again where they are missing");
  await call.setupBackgroundSync(setup("off"));
  assert.deepEqual(there(), []);
  await rejects(call.startBackgroundSync(), -1);
});

test("what a background wallet tells is heeded only where it fits and is whole", () => {
  const settings = { refreshFromHeight: 0, accounts: 2, addresses: 2, skipsCoinbase: false };
  const id = new Uint8Array(32);
  const found = {
    txHash: id,
    coinbase: false,
    height: 6,
    timestamp: 1,
    unlockTime: 0n,
    fee: 1n,
    publicAmountOut: 0n,
    txSize: 1,
    paymentId: id,
    received: [],
    inputs: [{ keyImage: id, amount: 0n }],
  };
  const background: BackgroundScan = { fromHeight: 5, transactions: [found], settings };
  const told = (changes: object = {}, scan: object = {}) =>
    ({
      height: 8,
      recent: RecentBlocks.of({ offset: 7, ids: [id] }),
      lastBlockReward: 1n,
      background: { ...background, ...scan },
      ...changes,
    }) as unknown as WalletState;
  const heeded = (state: WalletState, height = 5) => {
    const wallet = { height, recent: new RecentBlocks(height) } as unknown as WalletState;
    return foundFor(wallet, settings, state) !== undefined;
  };
  assert.ok(heeded(told()));
  assert.ok(heeded(told(), 6));
  assert.ok(!heeded(told(), 4), "nobody has scanned 4");
  assert.ok(!heeded(told(), 9), "the wallet is ahead");
  assert.ok(!heeded(told({}, { settings: { ...settings, addresses: 1 } })));
  for (const wrong of [
    told({ recent: RecentBlocks.of({ offset: 6, ids: [id] }) }),
    told({ lastBlockReward: 1 }),
    told({ height: 8.5 }),
    told({}, { transactions: [{ ...found, height: 8 }] }),
    told({}, { transactions: [found, { ...found, height: 5 }] }),
    told({}, { transactions: [{ ...found, txHash: "" }] }),
    told({}, { transactions: [{ ...found, inputs: [{ keyImage: id.slice(1), amount: 0n }] }] }),
    told({}, { transactions: [{ ...found, received: [{}] }] }),
  ])
    assert.ok(!heeded(wrong));
});
