/** Ledgers of wallets in the store of their folder, as they are copied there and put back into journals. */
import assert from "node:assert/strict";
import { copyFileSync, statSync, writeFileSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { setImmediate } from "node:timers/promises";
import { createMemoryEngine, type Engine, hasDataKey } from "@anulo/store";
import { recentTable } from "../src/file/ledger-tables.ts";
import { type LedgerOpening, openLedger } from "../src/file/open-ledger.ts";
import type { LedgerStore } from "../src/file/open-rows.ts";
import { readName } from "../src/file/store-name.ts";
import { pathsOfFile } from "../src/file/wallet-files.ts";
import { createKeys } from "../src/keys/wallet-keys.ts";
import { applyChange } from "../src/ledger/apply-change.ts";
import { folderOf } from "./folder-of.ts";

/** A folder whose wallets have the same keys, and its store. */
async function world(t: TestContext) {
  const folder = folderOf(t);
  const memory = createMemoryEngine();
  // Nothing is answered at once.
  const engine: Engine = {
    ...memory,
    page: async (...range) => {
      await setImmediate();
      return await memory.page(...range);
    },
  };
  const secrets = join(folder, "store");
  await mkdir(secrets);
  const store: LedgerStore = {
    ...{ engine, folder: secrets, serviceKey: undefined, acceptsOlder: false },
    role: "folder",
  };
  const file = { keys: createKeys(), settings: new Map() };
  const pathsOf = (name: string) => pathsOfFile(join(folder, name));
  const openingOf = (name: string, more: Partial<LedgerStore> = {}): LedgerOpening => ({
    ...{ paths: pathsOf(name), file, cacheKey: new Uint8Array(32).fill(1), network: "regtest" },
    ...{ store: { ...store, ...more }, follow: () => undefined },
  });
  /** The attribute of a wallet, which it has from now on instead. */
  const set = async (name: string, value: string, more: Partial<LedgerStore> = {}) => {
    const { ledger, log } = await openLedger(openingOf(name, more));
    const before = ledger.state.attributes.get("a");
    const change = { kind: "attribute", key: "a", value } as const;
    applyChange(ledger, change);
    await log.append(change);
    await log.close();
    return before;
  };
  const copy = (from: string, to: string) => {
    copyFileSync(pathsOf(from).store, pathsOf(to).store);
    writeFileSync(pathsOf(to).keys, "");
  };
  const isJournal = (name: string) => statSync(pathsOf(name).store).size > 24;
  return { engine, store, pathsOf, openingOf, set, copy, isJournal };
}

test("a ledger that leaves the store is in a journal when it is open, and its rows are gone", async (t) => {
  const { engine, pathsOf, set, isJournal } = await world(t);
  await set("w", "1");
  assert.ok(!isJournal("w"));
  const id = (await readName(pathsOf("w").store))!;
  assert.equal(await hasDataKey(engine, id), true);
  assert.equal(await set("w", "2", { role: "leave" }), "1");
  assert.ok(isJournal("w"));
  assert.equal(await hasDataKey(engine, id), false);
  assert.equal(await set("w", "3", { role: "leave" }), "2");
  assert.equal(await set("w", "4"), "3", "and comes back");
  assert.ok(!isJournal("w"));
});

test("a copy goes on from what the other had when it was opened, and both have their own from then on", async (t) => {
  const { pathsOf, set, copy } = await world(t);
  writeFileSync(pathsOf("w").keys, "");
  await set("w", "1");
  copy("w", "x");
  await set("w", "2");
  assert.equal(await set("x", "of x"), "2");
  assert.equal(await set("w", "3"), "2");
  assert.equal(await set("x", ""), "of x");
  assert.notDeepEqual(await readName(pathsOf("x").store), await readName(pathsOf("w").store));
});

test("a copy of what is being changed is made once that rests, at the third attempt at the latest", async (t) => {
  for (const changes of [0, 2, 3]) {
    const { engine, pathsOf, set, copy } = await world(t);
    writeFileSync(pathsOf("w").keys, "");
    await set("w", "0");
    copy("w", "x");
    const name = await readName(pathsOf("w").store);
    let made = 0;
    /** The other wallet changes when the last of its tables is read. */
    const page: Engine["page"] = async (wallet, table, range) => {
      const rows = await engine.page(wallet, table, range);
      if (table === recentTable.number && made < changes) await set("w", `${++made}`);
      return rows;
    };
    const { readNow: _, ...rest } = engine;
    const opened = set("x", "of x", { engine: { ...rest, page } });
    if (changes < 3) assert.equal(await opened, `${changes}`);
    else {
      await assert.rejects(opened, /is being changed: try again/);
      assert.deepEqual(await readName(pathsOf("x").store), name);
    }
    assert.equal(made, changes);
  }
});

test("a copy of a wallet that has no rows any more is not made", async (t) => {
  const { engine, pathsOf, set, copy } = await world(t);
  writeFileSync(pathsOf("w").keys, "");
  await set("w", "1");
  copy("w", "x");
  const page: Engine["page"] = async () => ({ rows: [], isLast: true });
  const { readNow: _, snapshot: __, ...rest } = engine;
  const empty = { engine: { ...rest, page } as Engine };
  await assert.rejects(set("x", "2", empty), /the wallet it was copied from has no history/);
});
