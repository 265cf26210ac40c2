/** The store that a folder of wallets has by itself, as the program and its commands find it. */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { fileURLToPath } from "node:url";
import { call, type ExactObject, startWallet } from "@anulo/testkit";

const ours = { kind: "ours" } as const;
const anulo = fileURLToPath(new URL("../../../bin/anulo.js", import.meta.url));
/** These are about what is done where nothing is named. */
const skip = process.env.ANULO_TEST_STORE === undefined ? false : "another store is named";

function place(t: TestContext) {
  const root = mkdtempSync(join(tmpdir(), "anulo-own-"));
  t.after(() => rmSync(root, { recursive: true, force: true }));
  const run = (...words: string[]) => {
    const { status, stdout, stderr } = spawnSync(process.execPath, [anulo, "wallet", ...words], {
      encoding: "utf8",
    });
    return { status, stdout, stderr };
  };
  /** Runs a task with a service with these flags, which has stopped when this resolves. */
  async function during<T>(
    flags: readonly string[],
    task: (ask: (method: string, params?: ExactObject) => Promise<ExactObject>) => Promise<T>,
  ): Promise<T> {
    const service = await startWallet(ours, { walletDir: root, first: flags });
    try {
      return await task((method, params = {}) => call(service.url, method, params));
    } finally {
      await service.stop();
    }
  }
  return { root, run, during };
}

const isJournal = (folder: string) => statSync(join(folder, "w.anulo")).size > 24;

test("a folder's wallets are in its store, and commands find it", { skip }, async (t) => {
  const { root, run, during } = place(t);
  const [folder, copies, other] = ["wallets", "copies", "other"].map((name) => join(root, name)) as [
    string,
    string,
    string,
  ];
  const open = { filename: "w" };
  await during(["--wallet-dir", folder], async (ask) => {
    await ask("create_wallet", { ...open, language: "English" });
    await ask("set_attribute", { key: "a", value: "1" });
    assert.ok(existsSync(join(folder, ".anulo-store", "wallets.mdb")));
    const { status, stdout } = run("backup", copies, "--wallet-dir", folder);
    assert.deepEqual([status, stdout], [0, "copied 1 of 1\n"]);
  });
  assert.ok(!isJournal(folder));
  assert.deepEqual(readdirSync(copies).sort(), ["w.keys", "w.rows"]);
  assert.equal(run("restore", copies, "--wallet-dir", other).stdout, "restored 1 of 1\n");
  for (const flags of [[], ["--store", "journal"], []])
    await during(["--wallet-dir", other, ...flags], async (ask) => {
      await ask("open_wallet", open);
      assert.equal((await ask("get_attribute", { key: "a" })).value, "1");
      assert.equal(isJournal(other), flags.length > 0);
    });
  assert.deepEqual(run("unused", "--wallet-dir", folder), { status: 0, stdout: "", stderr: "" });
  for (const name of ["w.keys", "w.anulo"]) rmSync(join(folder, name));
  assert.match(
    run("unused", "--wallet-dir", folder).stdout,
    /^[0-9a-f]{32} {2}\S+ {2}no file names it; stays: /,
  );
  // A folder without a store is told so.
  assert.match(run("unused", "--wallet-dir", copies).stderr, /has no store of its own/);
});

test("one wallet has the store of its folder, however it was made", { skip }, async (t) => {
  const { root, during } = place(t);
  const folder = mkdtempSync(join(root, "one-"));
  const [file, json] = [join(folder, "w"), join(root, "w.json")];
  const seed = await during(["--wallet-dir", join(root, "seed")], async (ask) => {
    await ask("create_wallet", { filename: "w", language: "English" });
    return String((await ask("query_key", { key_type: "mnemonic" })).key);
  });
  writeFileSync(json, JSON.stringify({ version: 1, filename: file, password: "p", seed }));
  await during(["--generate-from-json", json], (ask) => ask("set_attribute", { key: "a", value: "1" }));
  const check = async (ask: (method: string, params?: ExactObject) => Promise<ExactObject>) =>
    assert.equal((await ask("get_attribute", { key: "a" })).value, "1");
  await during(["--wallet-file", file, "--password", "p"], check);
  assert.ok(existsSync(join(folder, ".anulo-store", "wallets.mdb")));
  await during(["--wallet-dir", folder], async (ask) => {
    await ask("open_wallet", { filename: "w", password: "p" });
    await check(ask);
  });
});
