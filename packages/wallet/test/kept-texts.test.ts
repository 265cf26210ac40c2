/** What one call can have a wallet write: in proportion to what it sends. */
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import type { Engine } from "@anulo/store";
import { startTestService } from "./service.ts";

/** A service with a wallet, and the rows that are written for it. */
async function start(t: TestContext) {
  const folder = mkdtempSync(join(tmpdir(), "anulo-texts-"));
  let rows: Uint8Array[] = [];
  const watch = (engine: Engine): Engine => ({
    ...engine,
    apply: (wallet, change) => {
      rows.push(...change.puts.map(({ value }) => value));
      return engine.apply(wallet, change);
    },
  });
  const store = { location: join(folder, "store.mdb"), folder, watch };
  const { call, stop } = await startTestService({ folder, store });
  t.after(async () => {
    await stop();
    rmSync(folder, { recursive: true });
  });
  await call.createWallet({ filename: "w", password: "", language: "English" });
  return {
    call,
    /** The rows that a task has written. */
    async written(task: () => Promise<unknown>): Promise<readonly Uint8Array[]> {
      rows = [];
      await task();
      return rows;
    },
  };
}

const sizeOf = (rows: readonly Uint8Array[]) => rows.reduce((sum, { length }) => sum + length, 0);
const long = "x".repeat(4097);
const MiB = 1024 * 1024;

test("a text that is stored once for each of many addresses or accounts has a bound", async (t) => {
  const { call, written } = await start(t);
  const { address } = await call.getAddress({ account_index: 0 });
  await call.tagAccounts({ tag: "old", accounts: [0] });
  await call.addAddressBook({ address, description: "old" });
  const refused: [string, () => Promise<unknown>][] = [
    ["label", () => call.createAddress({ account_index: 0, label: long })],
    ["label", () => call.createAddress({ account_index: 0, label: "x".repeat(257), count: 65_536 })],
    ["label", () => call.createAccount({ label: long })],
    ["label", () => call.labelAddress({ index: { major: 0, minor: 0 }, label: long })],
    ["label", () => call.labelAccount({ account_index: 0, label: long })],
    ["tag", () => call.tagAccounts({ tag: long, accounts: [0] })],
    ["tag", () => call.tagAccounts({ tag: long.slice(1), accounts: Array.from({ length: 4097 }, () => 0) })],
    ["description", () => call.setAccountTagDescription({ tag: "old", description: long })],
    ["description", () => call.addAddressBook({ address, description: long })],
    ["description", () => call.editAddressBook({ index: 0, set_description: true, description: long })],
  ];
  const rows = await written(async () => {
    for (const [what, make] of refused)
      await assert.rejects(make(), (error: Error) => error.message.includes(`a ${what} `), what);
  });
  assert.equal(rows.length, 0);
  const most = long.slice(1);
  const full = await written(() => call.createAddress({ account_index: 0, label: most, count: 320 }));
  assert.ok(sizeOf(full) > MiB && sizeOf(full) < 2 * MiB, `${sizeOf(full)}`);
  await call.labelAccount({ account_index: 0, label: most });
  await call.tagAccounts({ tag: most, accounts: [0] });
  await call.addAddressBook({ address, description: most });
});

test("an entry of the address book is written with its neighbours alone", async (t) => {
  const { call, written } = await start(t);
  const { address } = await call.getAddress({ account_index: 0 });
  const descriptions = Array.from({ length: 100 }, (_, i) => `${i} ${"x".repeat(1000)}`);
  for (const description of descriptions) await call.addAddressBook({ address, description });
  const bytesOf = async (task: () => Promise<unknown>) => sizeOf(await written(task));
  assert.ok((await bytesOf(() => call.addAddressBook({ address, description: "last" }))) < 20_000);
  const edit = { index: 50, set_description: true, description: "edited" };
  assert.ok((await bytesOf(() => call.editAddressBook(edit))) < 25_000);
  assert.ok((await bytesOf(() => call.deleteAddressBook({ index: 100 }))) < 20_000);
  assert.ok((await bytesOf(() => call.deleteAddressBook({ index: 0 }))) > 80_000, "all others move");
  await call.closeWallet();
  await call.openWallet({ filename: "w", password: "" });
  const { entries } = await call.getAddressBook({});
  const expected = descriptions.with(50, "edited").slice(1);
  assert.deepEqual(
    entries.map(({ description }) => description),
    expected,
  );
});
