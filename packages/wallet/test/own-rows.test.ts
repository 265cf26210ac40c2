/** What a folder notes about the wallets whose rows are in its own store, and whose keys they had. */
import assert from "node:assert/strict";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { createLog, type LogLine } from "@anulo/rpc";
import type { Engine } from "@anulo/store";
import type { LedgerStore, StoredWallet } from "../src/file/open-rows.ts";
import { forgetElsewhere, forgetOtherKeys, noteOwnRows } from "../src/file/own-store.ts";
import { hasOtherKeys, nextNameOf, readOwner, writeName, writeOwner } from "../src/file/store-name.ts";
import { pathsOfFile } from "../src/file/wallet-files.ts";
import { createKeys } from "../src/keys/wallet-keys.ts";

const id = new Uint8Array(16).fill(6);

function world(t: TestContext) {
  const folder = mkdtempSync(join(tmpdir(), "anulo-own-rows-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const lines: LogLine[] = [];
  const log = createLog({ write: (line) => lines.push(line) });
  const paths = pathsOfFile(join(folder, "w"));
  const store = { folder } as LedgerStore;
  const walletOf = (keys = createKeys()) => ({ paths, keys, log }) as unknown as StoredWallet;
  return { folder, paths, store, walletOf, lines };
}

test("whose rows these are is noted once, and of what keys", async (t) => {
  const { folder, paths, store, walletOf } = world(t);
  const wallet = walletOf();
  await noteOwnRows(wallet, store);
  assert.deepEqual(readdirSync(folder), [], "nothing is in a store");
  await writeName(paths.store, id);
  await noteOwnRows(wallet, store);
  assert.equal(await readOwner(folder, id), "w");
  assert.equal(await hasOtherKeys(folder, id, wallet.keys), false);
  assert.equal(await hasOtherKeys(folder, id, createKeys()), true);
  await writeOwner(folder, id, "v");
  await noteOwnRows(wallet, store);
  assert.equal(await readOwner(folder, id), "v");
});

test("a name is put aside once the keys beside it are others than were noted", async (t) => {
  const { paths, store, walletOf, lines } = world(t);
  const wallet = walletOf();
  await forgetOtherKeys(wallet, store);
  await writeName(paths.store, id);
  const name = readFileSync(paths.store);
  await noteOwnRows(wallet, store);
  await forgetOtherKeys(wallet, store);
  assert.ok(existsSync(paths.store), "they are the same");
  writeFileSync(nextNameOf(paths), "");
  await forgetOtherKeys(walletOf(), store);
  assert.ok(existsSync(paths.store), "the service itself is replacing them");
  rmSync(nextNameOf(paths));
  assert.deepEqual(lines, []);
  await forgetOtherKeys(walletOf(), store);
  assert.ok(!existsSync(paths.store));
  assert.deepEqual(readFileSync(`${paths.store}.old`), name);
  assert.match(lines.map(({ event }) => event).join(), /keys were replaced by another program/);
});

/** A store that has the rows of some wallets. */
const storeWith = (
  folder: string,
  ids: readonly Uint8Array[],
  more: Partial<LedgerStore> = {},
): LedgerStore => ({
  ...{ folder, serviceKey: undefined, acceptsOlder: false },
  engine: {
    markOf: async (asked: Uint8Array) =>
      ids.some((each) => Buffer.compare(each, asked) === 0) ? {} : undefined,
  } as unknown as Engine,
  ...more,
});

test("a name without rows is put aside, and one that is about to count is removed", async (t) => {
  const { folder, paths, walletOf, lines } = world(t);
  const next = new Uint8Array(16).fill(7);
  await forgetElsewhere(walletOf(), storeWith(folder, []));
  await writeName(paths.store, id);
  await writeName(nextNameOf(paths), next);
  await forgetElsewhere(walletOf(), storeWith(folder, [id, next]));
  assert.deepEqual(readdirSync(folder).sort(), ["w.anulo", "w.anulo.next"]);
  await forgetElsewhere(walletOf(), storeWith(folder, [id]));
  assert.deepEqual(readdirSync(folder), ["w.anulo"]);
  assert.deepEqual(lines, []);
  await forgetElsewhere(walletOf(), storeWith(folder, []));
  assert.deepEqual(readdirSync(folder), ["w.anulo.old"]);
  await writeName(paths.store, id);
  writeFileSync(paths.base, "the original's cache");
  await forgetElsewhere(walletOf(), storeWith(folder, []));
  const [without, withCache] = lines.map(({ event }) => event);
  assert.match(without!, /it begins anew with its keys/);
  assert.match(withCache!, /goes on from the original program's cache/);
});

test("a name whose rows have been here is left, unless an older store is accepted", async (t) => {
  const { folder, paths, walletOf, lines } = world(t);
  await writeName(paths.store, id);
  writeFileSync(join(folder, `${"06".repeat(16)}.witness`), "");
  const refused = async (more: Partial<LedgerStore>, why: RegExp) => {
    await assert.rejects(forgetElsewhere(walletOf(), storeWith(folder, [], more)), why);
    assert.ok(existsSync(paths.store));
  };
  await refused({}, /start the service with the --store it was opened with/);
  await refused({ unused: "while another is named" }, /which is not used while another is named/);
  await refused({ unused: "here", acceptsOlder: true }, /which is not used here/);
  assert.deepEqual(lines, []);
  await forgetElsewhere(walletOf(), storeWith(folder, [], { acceptsOlder: true }));
  assert.ok(!existsSync(paths.store));
});
