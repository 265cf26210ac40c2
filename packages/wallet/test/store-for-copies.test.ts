/** The database of a store, opened for copies of its wallets while no service has it. */
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { openStoreForCopies } from "../src/file/ledger-store.ts";
import { folderOf } from "./folder-of.ts";

test("a store that is missing is created only where copies are put back", async (t) => {
  const location = join(folderOf(t), "wallets.mdb");
  await assert.rejects(openStoreForCopies(location, false), /there is no file .*wallets\.mdb/);
  assert.ok(!existsSync(location));
  const wallet = new Uint8Array(16).fill(1);
  for (const mayCreate of [true, false, true]) {
    const engine = await openStoreForCopies(location, mayCreate);
    assert.equal(await engine.markOf(wallet), undefined);
    await engine.close();
    assert.ok(existsSync(location));
  }
});
