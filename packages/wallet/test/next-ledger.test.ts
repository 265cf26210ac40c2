/** Ledgers in a store whose keys are being replaced: which one counts, wherever a crash comes between the files. */
import assert from "node:assert/strict";
import { existsSync, readdirSync, rmSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { createMemoryEngine, hasDataKey } from "@anulo/store";
import type { LedgerStore, StoredWallet } from "../src/file/open-rows.ts";
import { nextNameOf, readName, writeName } from "../src/file/store-name.ts";
import { openStoredLedger, prepareNextStoredLedger, settleNextName } from "../src/file/stored-ledger.ts";
import { pathsOfFile } from "../src/file/wallet-files.ts";
import { createKeys } from "../src/keys/wallet-keys.ts";
import { applyChange } from "../src/ledger/apply-change.ts";
import { folderOf } from "./folder-of.ts";

const settings = { seedLanguage: "", refreshFromHeight: 0 };
const serviceKey = new Uint8Array(32).fill(9);

/** A wallet in a store with an attribute, and what is needed to open it with its keys of before, or the next ones. */
async function world(t: TestContext, key?: Uint8Array) {
  const folder = folderOf(t);
  const engine = createMemoryEngine();
  const secrets = join(folder, "store");
  await mkdir(secrets);
  const store: LedgerStore = { engine, folder: secrets, serviceKey: key, acceptsOlder: false };
  const paths = pathsOfFile(join(folder, "w"));
  const walletOf = (byte: number): StoredWallet => {
    const cacheKey = new Uint8Array(32).fill(byte);
    return { paths, keys: createKeys(), cacheKey, network: "regtest", settings };
  };
  const wallets = { before: walletOf(1), next: walletOf(2) };
  const { ledger, log } = await openStoredLedger(wallets.before, store);
  applyChange(ledger, { kind: "attribute", key: "of", value: "before" });
  await log.append({ kind: "attribute", key: "of", value: "before" });
  await log.close();
  const id = (await readName(paths.store))!;
  /** Writes the ledger that is to follow, and opens none. */
  const prepare = async () => {
    applyChange(ledger, { kind: "attribute", key: "of", value: "next" });
    await prepareNextStoredLedger(wallets.next, store, ledger);
    return (await readName(nextNameOf(paths)))!;
  };
  /** What the wallet's attribute says with these keys. */
  const open = async (wallet: StoredWallet) => {
    const opened = await openStoredLedger(wallet, store);
    await opened.log.close();
    return opened.ledger.state.attributes.get("of");
  };
  const hasRows = (wallet: Uint8Array) => hasDataKey(engine, wallet);
  return { ...wallets, paths, store, id, prepare, open, hasRows, secrets };
}

for (const key of [undefined, serviceKey]) {
  const how = key === undefined ? "passwords" : "a service key";
  test(`the next ledger takes its place once its keys are there (${how})`, async (t) => {
    const { paths, next, id, prepare, open, hasRows, secrets } = await world(t, key);
    const nextId = await prepare();
    assert.notDeepEqual(nextId, id);
    assert.deepEqual([await hasRows(id), await hasRows(nextId)], [true, true]);
    assert.equal(await open(next), "next");
    assert.deepEqual(await readName(paths.store), nextId);
    assert.ok(!existsSync(nextNameOf(paths)));
    assert.deepEqual([await hasRows(id), await hasRows(nextId)], [false, true]);
    const name = Buffer.from(id).toString("hex");
    assert.deepEqual(
      readdirSync(secrets).filter((file) => file.includes(name)),
      [],
    );
    assert.equal(await open(next), "next");
  });

  test(`a next ledger whose keys never came is removed (${how})`, async (t) => {
    const { paths, before, id, prepare, open, hasRows } = await world(t, key);
    const nextId = await prepare();
    assert.equal(await open(before), "before");
    assert.deepEqual(await readName(paths.store), id);
    assert.ok(!existsSync(nextNameOf(paths)));
    assert.deepEqual([await hasRows(id), await hasRows(nextId)], [true, false]);
  });
}

test("no ledger is removed with a service key that opens neither", async (t) => {
  const { paths, before, store, id, prepare, hasRows } = await world(t, serviceKey);
  const nextId = await prepare();
  const other = { ...store, serviceKey: new Uint8Array(32).fill(8) };
  await assert.rejects(openStoredLedger(before, other), /opens with another key/);
  assert.deepEqual(await readName(nextNameOf(paths)), nextId);
  assert.deepEqual([await hasRows(id), await hasRows(nextId)], [true, true]);
});

test("nothing is settled while the store can't be read", async (t) => {
  const { paths, next, store, id, prepare, hasRows } = await world(t);
  const nextId = await prepare();
  const away = { ...store.engine, fence: () => Promise.reject(new Error("away")) };
  await assert.rejects(settleNextName(next, { ...store, engine: away }), /^Error: away$/);
  assert.deepEqual([await readName(paths.store), await readName(nextNameOf(paths))], [id, nextId]);
  assert.deepEqual([await hasRows(id), await hasRows(nextId)], [true, true]);
});

test("a next ledger alone takes the place of one that is missing, if its keys are there", async (t) => {
  const { paths, before, next, store, id, prepare, open, hasRows } = await world(t);
  const nextId = await prepare();
  rmSync(paths.store);
  await settleNextName(before, store);
  assert.ok(!existsSync(nextNameOf(paths)), "these are not its keys");
  await writeName(nextNameOf(paths), nextId);
  assert.equal(await open(next), "next");
  assert.deepEqual(await readName(paths.store), nextId);
  // It has both names.
  await writeName(nextNameOf(paths), nextId);
  assert.equal(await open(next), "next");
  assert.ok(!existsSync(nextNameOf(paths)));
  assert.deepEqual([await hasRows(id), await hasRows(nextId)], [true, true]);
});

test("without a next ledger nothing is changed", async (t) => {
  const { paths, before, store, id, hasRows } = await world(t);
  await settleNextName(before, store);
  assert.deepEqual(await readName(paths.store), id);
  assert.equal(await hasRows(id), true);
});
