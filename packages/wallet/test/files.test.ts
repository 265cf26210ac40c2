import assert from "node:assert/strict";
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { createClient, walletMethods } from "@anulo/rpc";
import { createWalletService } from "../src/create-service.ts";
import { readKeysFile, writeKeysFile } from "../src/file/keys-file.ts";
import { createRuntime } from "../src/runtime.ts";
import { type RecordedNode, recorded, startRecordedNode } from "./recorded-node.ts";
import { CLOSING_MS, startTestService } from "./service.ts";

const runtime = createRuntime();

let node: RecordedNode;
before(async () => {
  node = await startRecordedNode();
});
after(async () => {
  await node.stop();
});

const TXID = "5c17d4b7f08ed889ff4992f34a34055982c7f7ae8451cbca798a1f0306b858d5";

/** The names of its files, but for those that a wallet may leave once it has computed its addresses. */
const namesIn = (folder: string) =>
  readdirSync(folder)
    .filter((name) => !name.endsWith(".addresses"))
    .sort();

test("everything a caller was told is kept is there after the process died", async (t) => {
  const { call, folder } = await startTestService({ node: node.url }, t);
  await call.restoreDeterministicWallet({ filename: "w", password: "p", seed: recorded.wallets.a!.mnemonic });
  await call.refresh({});
  await call.createAccount({ label: "new account" });
  await call.createAddress({ account_index: 0, label: "new address", count: 2 });
  await call.setTxNotes({ txids: [TXID], notes: ["a note ü"] });
  await call.setAttribute({ key: "k", value: "v" });
  await call.tagAccounts({ tag: "t", accounts: [0] });
  await call.addAddressBook({ address: recorded.wallets.b!.address, description: "b" });
  const copy = mkdtempSync(join(tmpdir(), "anulo-wallet-"));
  cpSync(folder, copy, { recursive: true }); // what a killed process would leave
  const seen = async (of: typeof call) => ({
    transfers: await of.getTransfers({ in: true, out: true, all_accounts: true }),
    balance: await of.getBalance({ all_accounts: true }),
    accounts: await of.getAccounts({}),
    addresses: await of.getAddress({}),
    notes: await of.getTxNotes({ txids: [TXID] }),
    attribute: await of.getAttribute({ key: "k" }),
    tags: await of.getAccountTags({}),
    book: await of.getAddressBook({}),
    height: await of.getHeight({}),
  });
  const before = await seen(call);
  const again = await startTestService({ node: node.url, folder: copy }, t);
  await again.call.openWallet({ filename: "w", password: "p" });
  assert.deepEqual(await seen(again.call), before);
  assert.deepEqual(await again.call.refresh({}), { blocks_fetched: 0, received_money: false });
  rmSync(copy, { recursive: true });
});

test("files carry no secret and no address in the clear", async (t) => {
  const { call, folder } = await startTestService({}, t);
  const { address } = await call.restoreDeterministicWallet({
    filename: "w",
    seed: recorded.wallets.a!.mnemonic,
  });
  const { key } = await call.queryKey({ key_type: "spend_key" });
  await call.setAttribute({ key: "k", value: "plain words" });
  await call.closeWallet({});
  assert.deepEqual(namesIn(folder), ["w", "w.anulo", "w.keys"]);
  for (const name of readdirSync(folder)) {
    const content = readFileSync(join(folder, name));
    for (const text of [Buffer.from(key, "hex"), Buffer.from(address), Buffer.from("plain words")]) {
      assert.equal(content.indexOf(text), -1, name);
    }
  }
});

test("a changed password opens, the old one doesn't, and the wallet stays what it was", async (t) => {
  const { call } = await startTestService({}, t);
  const { address } = await call.restoreDeterministicWallet({
    filename: "w",
    password: "old",
    seed: recorded.wallets.a!.mnemonic,
  });
  await call.setAttribute({ key: "k", value: "v" });
  await assert.rejects(call.changeWalletPassword({ old_password: "x", new_password: "new" }), { code: -22 });
  await call.changeWalletPassword({ old_password: "old", new_password: "new" });
  await call.closeWallet({});
  await assert.rejects(call.openWallet({ filename: "w", password: "old" }), {
    code: -1,
    message: "Failed to open wallet : Invalid password.",
  });
  await call.openWallet({ filename: "w", password: "new" });
  assert.equal((await call.getAddress({})).address, address);
  assert.equal((await call.getAttribute({ key: "k" })).value, "v");
});

test("a look-ahead that is set recognises addresses farther out, and does when the wallet is opened again", async (t) => {
  const { call } = await startTestService({}, t);
  const made = { password: "p", seed: recorded.wallets.a!.mnemonic };
  await call.restoreDeterministicWallet({ filename: "far", ...made });
  await call.createAddress({ account_index: 0, count: 1010 });
  const { address } = (await call.getAddress({ account_index: 0, address_index: [999] })).addresses[0]!;
  await call.restoreDeterministicWallet({ filename: "w", ...made });
  const unknown = { code: -2 };
  await assert.rejects(call.getAddressIndex({ address }), unknown);
  const set = (password: string, major_idx: number, minor_idx: number) =>
    call.setSubaddressLookahead({ password, major_idx, minor_idx });
  await assert.rejects(set("x", 0, 0), { code: -22, message: "Invalid password." });
  await assert.rejects(set("p", 0, 1), { code: -1, message: "Subaddress major lookahead may not be zero" });
  await assert.rejects(set("p", 1, 0), { code: -1, message: "Subaddress minor lookahead may not be zero" });
  await assert.rejects(set("p", 2_000, 1_001), /too large/);
  await assert.rejects(call.getAddressIndex({ address }), unknown);
  await set("p", 50, 1000);
  const expected = { index: { major: 0, minor: 999 } };
  assert.deepEqual(await call.getAddressIndex({ address }), expected);
  await call.closeWallet({});
  await call.openWallet({ filename: "w", password: "p" });
  assert.deepEqual(await call.getAddressIndex({ address }), expected);
  await set("p", 1, 1);
  assert.deepEqual(await call.getAddressIndex({ address }), expected);
});

test("store leaves the original's cache of a wallet that has seen nothing too, and again once it was removed", async (t) => {
  const { call, folder } = await startTestService({}, t);
  await call.restoreDeterministicWallet({ filename: "w", seed: recorded.wallets.a!.mnemonic });
  const hasCache = () => readdirSync(folder).includes("w");
  assert.ok(!hasCache());
  for (let i = 0; i < 2; i++) {
    rmSync(join(folder, "w"), { force: true });
    await call.store({});
    assert.ok(hasCache());
  }
});

test("a wallet that one service has open, another refuses to open", async (t) => {
  const first = await startTestService({}, t);
  await first.call.createWallet({ filename: "w", language: "English" });
  const second = await startTestService({ folder: first.folder }, t);
  await assert.rejects(second.call.openWallet({ filename: "w" }), /another service has it open/);
  await first.call.closeWallet({});
  await second.call.openWallet({ filename: "w" });
});

test("a changed bit of the keys file opens no other wallet", async (t) => {
  const { call, folder } = await startTestService({}, t);
  await call.restoreDeterministicWallet({ filename: "w", password: "p", seed: recorded.wallets.a!.mnemonic });
  const keysOf = async () => {
    const { address } = await call.getAddress({});
    return [address, (await call.queryKey({ key_type: "spend_key" })).key];
  };
  const expected = await keysOf();
  await call.closeWallet({});
  const path = join(folder, "w.keys");
  const whole = readFileSync(path);
  let refused = 0;
  for (let at = 0; at < whole.length; at += Math.ceil(whole.length / 40)) {
    const changed = Buffer.from(whole);
    changed[at]! ^= 1 << (at % 8);
    writeFileSync(path, changed);
    try {
      await call.openWallet({ filename: "w", password: "p" });
    } catch (error) {
      assert.match(String(error), /Failed to open wallet/);
      refused++;
      continue;
    }
    // A setting may have another value: the format has no checksum. The keys are those they were.
    assert.deepEqual(await keysOf(), expected);
    await call.closeWallet({});
  }
  assert.ok(refused > 5, `${refused} refused`);
  for (let size = 0; size < whole.length; size += Math.ceil(whole.length / 15)) {
    writeFileSync(path, whole.subarray(0, size));
    await assert.rejects(call.openWallet({ filename: "w", password: "p" }), /Failed to open wallet/);
  }
});

test("a failed opening leaves the wallet that was open as it was", async (t) => {
  const { call } = await startTestService({}, t);
  await call.createWallet({ filename: "one", language: "English" });
  const { address } = await call.getAddress({});
  await assert.rejects(call.openWallet({ filename: "absent" }), { code: -1 });
  await assert.rejects(call.openWallet({ filename: "one", password: "wrong" }), { code: -1 });
  await assert.rejects(call.openWallet({ filename: "../one" }), { code: -1, message: "Invalid filename" });
  assert.equal((await call.getAddress({})).address, address);
});

test("a damaged store is told, not silently replaced", async (t) => {
  const { call, folder } = await startTestService({}, t);
  await call.createWallet({ filename: "w", language: "English" });
  for (const value of ["a", "b", "c"]) await call.setAttribute({ key: "k", value });
  await call.closeWallet({});
  const path = join(folder, "w.anulo");
  const content = readFileSync(path);
  content[60]! ^= 1;
  writeFileSync(path, content);
  await assert.rejects(
    call.openWallet({ filename: "w" }),
    /Failed to open wallet : record 0 of the wallet store was changed/,
  );
  assert.deepEqual(readFileSync(path), content);
});

test("two copies of a wallet file under other names are two wallets", async (t) => {
  const { call, folder } = await startTestService({}, t);
  await call.createWallet({ filename: "w", language: "Deutsch" });
  const { key } = await call.queryKey({ key_type: "mnemonic" });
  await call.closeWallet({});
  cpSync(join(folder, "w.keys"), join(folder, "copy.keys"));
  await call.openWallet({ filename: "copy" });
  assert.equal((await call.queryKey({ key_type: "mnemonic" })).key, key);
});

test("a view-only wallet sees what comes in and shows no spend secret", async (t) => {
  const { call } = await startTestService({ node: node.url }, t);
  await call.restoreDeterministicWallet({ filename: "full", seed: recorded.wallets.b!.mnemonic });
  const { key: viewkey } = await call.queryKey({ key_type: "view_key" });
  await call.refresh({});
  const full = await call.incomingTransfers({ transfer_type: "all" });
  const { address } = recorded.wallets.b!;
  await call.generateFromKeys({ filename: "view", address, viewkey });
  await call.refresh({});
  const { transfers } = await call.incomingTransfers({ transfer_type: "all" });
  assert.deepEqual(
    transfers.map(({ amount, pubkey }) => ({ amount, pubkey })),
    full.transfers.map(({ amount, pubkey }) => ({ amount, pubkey })),
  );
  assert.ok(transfers.every(({ key_image, spent }) => key_image === "" && !spent));
  await assert.rejects(call.queryKey({ key_type: "spend_key" }), { code: -29 });
  await assert.rejects(call.queryKey({ key_type: "mnemonic" }), { code: -29 });
  await assert.rejects(
    call.generateFromKeys({ filename: "x", address, viewkey: "11".repeat(32) }),
    /view key does not match/,
  );
});

test("names name files in the wallet directory, as the original's do, and never those of another wallet", async (t) => {
  const parent = mkdtempSync(join(tmpdir(), "anulo-wallet-"));
  t.after(() => rmSync(parent, { recursive: true }));
  const folder = join(parent, "wallets");
  mkdirSync(folder);
  const { call } = await startTestService({ folder }, t);
  await call.createWallet({ filename: "w.keys", language: "English" });
  await call.closeWallet({});
  assert.deepEqual(namesIn(folder), ["w.anulo", "w.keys"]);
  await call.openWallet({ filename: "w.keys" });
  await call.closeWallet({});
  cpSync(join(folder, "w.keys"), join(parent, "wallets.keys"));
  cpSync(join(folder, "w.keys"), `${parent}.keys`);
  t.after(() => rmSync(`${parent}.keys`));
  for (const filename of ["", ".", ".."]) await assert.rejects(call.openWallet({ filename }), { code: -1 });
  for (const filename of [
    "w.anulo",
    "w.anulo.keys",
    "w.anulo.lock",
    "w.anulo.next",
    "w.anulo.addresses",
    "../w",
    "w\0",
  ])
    await assert.rejects(call.createWallet({ filename, language: "English" }), /Invalid filename/, filename);
});

test("whoever deletes the original's files of a wallet has its name free, and its journal put aside", async (t) => {
  const { call, folder } = await startTestService({}, t);
  await call.createWallet({ filename: "w", language: "English" });
  await call.setAttribute({ key: "k", value: "first" });
  await call.closeWallet({});
  await assert.rejects(call.createWallet({ filename: "w", language: "English" }), /Already exists/);
  for (const name of ["w", "w.keys"]) rmSync(join(folder, name));
  await call.createWallet({ filename: "w", language: "English" });
  await assert.rejects(call.getAttribute({ key: "k" }));
  await call.closeWallet({});
  assert.deepEqual(namesIn(folder), ["w.anulo", "w.anulo.old", "w.keys"]);
});

test("a service that is to leave no cache leaves none", async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "anulo-wallet-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const service = await createWalletService({
    listen: [{ host: "127.0.0.1", port: 0 }],
    walletDirectory: folder,
    daemon: { url: "" },
    network: "regtest",
    refreshPeriod: 0,
    writesOriginalCache: false,
    closingMs: CLOSING_MS,
  });
  const call = createClient(walletMethods, service.url);
  await call.createWallet({ filename: "w", language: "English" });
  await call.setAttribute({ key: "k", value: "first" });
  await call.store({});
  call.close();
  await service.stop();
  assert.deepEqual(namesIn(folder), ["w.anulo", "w.keys"]);
});

test("a seed of the first wallets, in words no longer written, is told in a language that is", async (t) => {
  const { call } = await startTestService({}, t);
  const seed = `like just love know never want time out there make look eye
    down only think heart back then into about more away still them`;
  const restored = (language?: string) =>
    call.restoreDeterministicWallet({ filename: "", seed, ...(language !== undefined && { language }) });
  await assert.rejects(restored(), {
    code: -1,
    message: "Wallet was using the old seed language. You need to specify a new seed language.",
  });
  await assert.rejects(restored("EnglishOld"), {
    code: -1,
    message: "Wallet was using the old seed language, and the specified new seed language is invalid.",
  });
  const { address, seed: words, was_deprecated } = await restored("Deutsch");
  assert.ok(was_deprecated);
  assert.equal((await call.queryKey({ key_type: "mnemonic" })).key, words);
  const again = await call.restoreDeterministicWallet({ filename: "", seed: words });
  assert.deepEqual([again.address, again.seed, again.was_deprecated], [address, words, false]);
});

test("a wallet that another service made meanwhile is not overwritten", async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "anulo-wallet-"));
  t.after(() => rmSync(folder, { recursive: true }));
  let isAsked: () => void = () => undefined;
  let letGo: () => void = () => undefined;
  const asked = new Promise<void>((resolve) => {
    isAsked = resolve;
  });
  const slow = createServer((_, answer) => {
    letGo = () => void answer.end(JSON.stringify({ status: "OK", height: 7 }));
    isAsked();
  });
  await new Promise<void>((resolve) => slow.listen(0, "127.0.0.1", resolve));
  t.after(() => slow.close());
  const first = await startTestService({ folder }, t);
  const second = await startTestService(
    { folder, node: `http://127.0.0.1:${(slow.address() as AddressInfo).port}` },
    t,
  );
  // It finds the name free, and then waits for its node.
  const late = second.call.createWallet({ filename: "w", language: "English" });
  await asked;
  await first.call.createWallet({ filename: "w", language: "English" });
  const { address } = await first.call.getAddress({});
  await first.call.closeWallet({});
  letGo();
  await assert.rejects(late, /Already exists/);
  await first.call.openWallet({ filename: "w" });
  assert.equal((await first.call.getAddress({})).address, address);
});

test("a seed whose language is none that is written is not told", async (t) => {
  const { call, folder } = await startTestService({}, t);
  await call.createWallet({ filename: "w", language: "English" });
  await call.closeWallet({});
  const path = join(folder, "w.keys");
  const { cacheKey: _, ...file } = await readKeysFile(readFileSync(path), { ...runtime, password: "" });
  for (const language of ["EnglishOld", "Klingon", ""]) {
    const settings = new Map([...file.settings, ["seed_language", language] as const]);
    writeFileSync(path, await writeKeysFile({ ...file, settings }, { ...runtime, password: "" }));
    rmSync(join(folder, "w.anulo"));
    await call.openWallet({ filename: "w" });
    await assert.rejects(call.queryKey({ key_type: "mnemonic" }), {
      code: -1,
      message: "Failed to get seed.",
    });
    await call.closeWallet({});
  }
});

test("an address of any network is judged without a wallet, one of the wallet's network is not", async (t) => {
  const { call } = await startTestService({}, t);
  const address =
    "44AFFq5kSiGBoZ4NMDwYtN18obc8AemS33DBLWs3H7otXft3XjrpDtQGv7SqSsaBYBb98uNbr2VBBEt7f2wfn3RVGQBEP3A";
  assert.equal((await call.validateAddress({ address, any_net_type: true })).valid, true);
  await assert.rejects(call.validateAddress({ address }), /No wallet file/);
});
