import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { Journal } from "../src/file/journal.ts";
import { prepareNextStore, settleNextStore } from "../src/file/store.ts";
import { walletPaths, writeKeysAndCache, writeKeysImage } from "../src/file/wallet-files.ts";
import { createLedger } from "../src/ledger/ledger.ts";
import { fileOperations } from "./file-operations.ts";

// Closes a class of losses: a file that took another's place by a name which the disk has not kept.

const folder = mkdtempSync(join(tmpdir(), "anulo-synced-"));
after(() => rmSync(folder, { recursive: true }));
const secret = new Uint8Array(32).fill(7);

/** Syncs, and what took another's name, while `work` runs. */
async function operationsOf(work: () => Promise<unknown>): Promise<string[]> {
  const operations = await fileOperations(folder, work);
  return operations.filter((each) => /^(sync|rename) /.test(each));
}

test("a journal is created once its bytes, then its name are on disk", async () => {
  const operations = await operationsOf(async () => {
    await (await Journal.create(join(folder, "j"), secret, [new Uint8Array(3)])).close();
  });
  assert.deepEqual(operations, ["sync j.new", "rename j.new j", "sync the folder"]);
});

test("a keys file is written once its bytes, then its name are on disk", async () => {
  const paths = walletPaths(folder, "w");
  const operations = await operationsOf(() => writeKeysImage(paths, new Uint8Array(3)));
  assert.deepEqual(operations, ["sync w.keys.new", "rename w.keys.new w.keys", "sync the folder"]);
});

test("keys file and cache are both on disk before either takes its place", async () => {
  const images = { keys: new Uint8Array(3), cache: new Uint8Array(5) };
  const operations = await operationsOf(() => writeKeysAndCache(walletPaths(folder, "w"), images));
  assert.deepEqual(operations, [
    "sync w.keys.new",
    "sync w.new",
    "rename w.keys.new w.keys",
    "rename w.new w",
    "sync the folder",
  ]);
});

test("the next store has taken its place for good before the wallet goes on", async () => {
  const options = { path: join(folder, "s"), secret, network: "regtest" } as const;
  await prepareNextStore(options, createLedger("regtest", { seedLanguage: "English", refreshFromHeight: 0 }));
  const operations = await operationsOf(() => settleNextStore(options));
  assert.deepEqual(operations, ["rename s.next s", "sync the folder"]);
});
