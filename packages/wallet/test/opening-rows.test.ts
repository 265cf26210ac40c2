/** What opening a wallet asks of its store. */
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { createMemoryEngine, type Engine, type NewRow, readingAhead } from "@anulo/store";
import { outboxTable } from "../src/file/ledger-tables.ts";
import { loadAsToday } from "../src/file/stored-ledger.ts";
import { walletPaths } from "../src/file/wallet-files.ts";
import { createKeys } from "../src/keys/wallet-keys.ts";
import { applyChange } from "../src/ledger/apply-change.ts";
import { createRuntime } from "../src/runtime.ts";
import { bytes, follow, MemoryLog, settings, story } from "./follower-fixture.ts";
import { openRows, openTold } from "./told-store.ts";

/** The rows of an engine, read all at once where a wallet is opened; it counts how it was asked. */
function countingEngine(memory: Engine) {
  const asked = { ahead: 0, single: 0 };
  const { readNow: _, ...rest } = memory;
  const engine: Engine = {
    ...rest,
    async readAhead(wallet) {
      asked.ahead += 1;
      const snapshot = await memory.snapshot(wallet);
      const rows: NewRow[] = [];
      for await (const page of snapshot?.pages ?? []) rows.push(...page);
      return { mark: snapshot?.mark, rows };
    },
    read: (...args) => {
      asked.single += 1;
      return memory.read(...args);
    },
    page: (...args) => {
      asked.single += 1;
      return memory.page(...args);
    },
  };
  return { engine, asked };
}

test("a wallet and the events that wait in it are read at once, and the rows kept for that are dropped then", async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "anulo-opening-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const memory = createMemoryEngine();
  const wallet = Buffer.alloc(16, 1);
  const log = new MemoryLog();
  // A log that answers nothing any more: the events wait beside the wallet.
  const dead = { cursorOf: () => log.cursorOf(bytes(0)), append: () => new Promise<void>(() => undefined) };
  const former = follow(dead);
  const before = await openTold({ engine: memory, wallet, folder }, former);
  for (const change of story) {
    former.observe(change, () => applyChange(before.ledger, change));
    await before.log.append();
  }
  const { engine, asked } = countingEngine(memory);
  const store = await openRows({ engine: readingAhead(engine, wallet), wallet, folder });
  const runtime = createRuntime();
  const paths = walletPaths(folder, "w");
  const stored = { paths, keys: createKeys(runtime.random), cacheKey: new Uint8Array(32) };
  const follower = follow(log);
  const loaded = await loadAsToday(store, { ...stored, network: "regtest", settings, follower });
  assert.equal(loaded?.ledger.state.changeCount, story.length);
  assert.deepEqual(asked, { ahead: 1, single: 0 });
  await follower.settled();
  assert.equal(log.told.length, 13);
  await store.read(outboxTable, new Uint8Array(8));
  assert.deepEqual(asked, { ahead: 1, single: 1 });
  await follower.close();
  await store.close();
});
