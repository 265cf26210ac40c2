/** How a wallet's rows are opened: what is refused, and what is told. */
import assert from "node:assert/strict";
import { readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { createLog, type LogLine } from "@anulo/rpc";
import { createMemoryEngine, StoreUnavailable, WrongStoreKey } from "@anulo/store";
import { txKeyTable } from "../src/file/ledger-tables.ts";
import { engineOf, type LedgerStore, openNamed, openRows, type StoredWallet } from "../src/file/open-rows.ts";
import { pathsOfFile } from "../src/file/wallet-files.ts";
import { createKeys } from "../src/keys/wallet-keys.ts";
import { WalletRefusal } from "../src/refusal.ts";
import { folderOf } from "./folder-of.ts";

const id = new Uint8Array(16).fill(6);
const key = Uint8Array.of(0, 0, 0, 1, 0, 0);
const row = { table: txKeyTable, key, value: Buffer.of(5) };

function world(t: TestContext) {
  const folder = folderOf(t);
  const lines: LogLine[] = [];
  const log = createLog({ write: (line) => lines.push(line) }).in("wallet");
  const paths = pathsOfFile(join(folder, "w"));
  const wallet = {
    ...{ paths, keys: createKeys(), cacheKey: new Uint8Array(32).fill(1) },
    ...{ network: "regtest", log },
  } as unknown as StoredWallet;
  const store: LedgerStore = {
    ...{ engine: createMemoryEngine(), folder: join(folder, "secrets") },
    ...{ serviceKey: undefined, acceptsOlder: false },
  };
  return { folder, wallet, store, events: () => lines.map(({ event }) => event) };
}

test("rows that a file names must be there, and open again without a word", async (t) => {
  const { wallet, store, events } = world(t);
  await assert.rejects(openRows(wallet, { store, id, isNamed: true }), (error: Error) => {
    assert.ok(error instanceof WalletRefusal);
    assert.match(error.message, /it is not in this --store/);
    return true;
  });
  const first = await openRows(wallet, { store, id, isNamed: false });
  await first.apply({ puts: [row] });
  await first.close();
  const again = await openNamed(wallet, { store, id });
  assert.deepEqual(await again.read(row.table, row.key), row.value);
  await again.close();
  assert.deepEqual(events(), []);
});

test("it is told where nothing here has seen the rows before", async (t) => {
  const { wallet, store, events } = world(t);
  await (await openRows(wallet, { store, id, isNamed: false })).close();
  for (const name of readdirSync(store.folder))
    if (name.endsWith(".witness")) rmSync(join(store.folder, name));
  await (await openRows(wallet, { store, id, isNamed: true })).close();
  assert.equal(events().length, 1);
  assert.match(events()[0]!, /whether a wallet's store is an older copy can't be known/);
});

test("rows of another key are refused with what may be wrong", async (t) => {
  const { wallet, store } = world(t);
  await (await openRows(wallet, { store, id, isNamed: false })).close();
  const other = { ...wallet, cacheKey: new Uint8Array(32).fill(2) };
  await assert.rejects(openRows(other, { store, id, isNamed: true }), WrongStoreKey);
  await assert.rejects(openNamed(other, { store, id }), (error: Error) => {
    assert.ok(error instanceof WalletRefusal);
    assert.match(error.message, /its store opens with another key/);
    return true;
  });
});

test("rows that can't be written now may be read, unless they must be written", async (t) => {
  const { wallet, store, events } = world(t);
  const first = await openRows(wallet, { store, id, isNamed: false });
  await first.apply({ puts: [row] });
  await first.close();
  const away = (mayPass: boolean) => ({
    ...store.engine,
    markOf: store.engine.markOf.bind(store.engine),
    read: store.engine.read.bind(store.engine),
    page: store.engine.page.bind(store.engine),
    fence: () => Promise.reject(new StoreUnavailable("full", { mayPass })),
  });
  const readOnly = { ...store, engine: away(false) } as LedgerStore;
  const reader = await openRows(wallet, { store: readOnly, id, isNamed: true });
  assert.deepEqual(await reader.read(row.table, row.key), row.value);
  await assert.rejects(reader.apply({ puts: [row] }), StoreUnavailable);
  await reader.close();
  assert.match(events().join(), /^a wallet can only be read, since its store can't be written$/);
  const shared = { engineFor: () => readOnly.engine } as unknown as LedgerStore["shared"];
  for (const [place, isNamed] of [
    [readOnly, false],
    [{ ...readOnly, mustWrite: true }, true],
    [{ ...readOnly, shared }, true],
    [{ ...store, engine: away(true) } as LedgerStore, true],
  ] as const)
    await assert.rejects(openRows(wallet, { store: place, id, isNamed }), StoreUnavailable);
  assert.equal(events().length, 1);
  assert.equal(engineOf({ ...store, shared }, wallet.paths), readOnly.engine);
  assert.equal(engineOf(store, wallet.paths), store.engine);
});
