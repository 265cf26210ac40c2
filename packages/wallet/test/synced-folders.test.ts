import assert from "node:assert/strict";
import fs, { mkdtempSync, rmSync } from "node:fs";
import type { FileHandle } from "node:fs/promises";
import { syncBuiltinESMExports } from "node:module";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { after, test } from "node:test";
import { setImmediate } from "node:timers/promises";
import { Journal } from "../src/file/journal.ts";
import { prepareNextStore, settleNextStore } from "../src/file/store.ts";
import { walletPaths, writeKeysAndCache, writeKeysImage } from "../src/file/wallet-files.ts";
import { createLedger } from "../src/ledger/ledger.ts";

// Closes a class of losses: a file that took another's place by a name which the disk has not kept.

const folder = mkdtempSync(join(tmpdir(), "anulo-synced-"));
after(() => rmSync(folder, { recursive: true }));
const secret = new Uint8Array(32).fill(7);

/** Without what is random in it. */
const nameOf = (path: string) => basename(path).replace(/\.[0-9a-f]{8}\./, ".");

/** What `work` has done to files when it is over; each sync takes a while. */
async function operationsOf(work: () => Promise<unknown>): Promise<string[]> {
  const done: string[] = [];
  const { open, rename } = fs.promises;
  const slowly = (file: FileHandle, name: string) => {
    const { sync } = file;
    return Object.assign(file, {
      sync: async () => {
        await sync.call(file);
        for (let i = 0; i < 5; i++) await setImmediate();
        done.push(`sync ${name}`);
      },
    });
  };
  Object.assign(fs.promises, {
    open: async (...args: Parameters<typeof open>) => {
      const name = String(args[0]) === folder ? "the folder" : nameOf(String(args[0]));
      return slowly(await open(...args), name);
    },
    rename: async (from: string, to: string) => {
      await rename(from, to);
      done.push(`rename ${nameOf(from)}`);
    },
  });
  syncBuiltinESMExports();
  try {
    await work();
    return [...done];
  } finally {
    Object.assign(fs.promises, { open, rename });
    syncBuiltinESMExports();
  }
}

test("a journal is created once its bytes, then its name are on disk", async () => {
  const operations = await operationsOf(async () => {
    await (await Journal.create(join(folder, "j"), secret, [new Uint8Array(3)])).close();
  });
  assert.deepEqual(operations, ["sync j.new", "rename j.new", "sync the folder"]);
});

test("a keys file is written once its bytes, then its name are on disk", async () => {
  const paths = walletPaths(folder, "w");
  const operations = await operationsOf(() => writeKeysImage(paths, new Uint8Array(3)));
  assert.deepEqual(operations, ["sync w.keys.new", "rename w.keys.new", "sync the folder"]);
});

test("keys file and cache are both on disk before either takes its place", async () => {
  const images = { keys: new Uint8Array(3), cache: new Uint8Array(5) };
  const operations = await operationsOf(() => writeKeysAndCache(walletPaths(folder, "w"), images));
  assert.deepEqual(operations, [
    "sync w.keys.new",
    "sync w.new",
    "rename w.keys.new",
    "rename w.new",
    "sync the folder",
  ]);
});

test("the next store has taken its place for good before the wallet goes on", async () => {
  const options = { path: join(folder, "s"), secret, network: "regtest" } as const;
  await prepareNextStore(options, createLedger("regtest", { seedLanguage: "English", refreshFromHeight: 0 }));
  const operations = await operationsOf(() => settleNextStore(options));
  assert.deepEqual(operations, ["rename s.next", "sync the folder"]);
});
