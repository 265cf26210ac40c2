/** The command that lists what a store has of deleted wallets, and removes it. */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync, utimesSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { call, startWallet } from "@anulo/testkit";

const ours = { kind: "ours" } as const;
const anulo = fileURLToPath(new URL("../../../bin/anulo.js", import.meta.url));

test("anulo wallet unused lists a wallet whose keys are deleted, and removes it when it is told to", async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "anulo-unused-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const store = join(folder, "wallets.mdb");
  const service = await startWallet(ours, { walletDir: folder, extra: ["--store", store] });
  try {
    for (const filename of ["gone", "stays"])
      await call(service.url, "create_wallet", { filename, language: "English" });
    await call(service.url, "close_wallet");
  } finally {
    await service.stop();
  }
  const run = (...flags: string[]) => {
    const args = [anulo, "wallet", "unused", "--wallet-dir", folder, "--store", store, ...flags];
    const { status, stdout, stderr } = spawnSync(process.execPath, args, { encoding: "utf8" });
    return { status, stdout, stderr };
  };
  assert.deepEqual(run(), { status: 0, stdout: "", stderr: "" });
  for (const file of ["gone", "gone.keys"]) rmSync(join(folder, file), { force: true });
  const { stdout } = run();
  const [, id = ""] =
    /^([0-9a-f]{32}) {2}\d{4}-\d\d-\d\d {2}\S+\/gone\.anulo; stays: .*\n$/.exec(stdout) ?? [];
  assert.notEqual(id, "", stdout);
  const refusal = run("--remove", id);
  assert.equal(refusal.status, 1);
  assert.match(
    refusal.stderr,
    /^anulo: anulo wallet unused: [0-9a-f]{32}: it was written less than ten minutes/,
  );
  const secrets = join(folder, ".anulo-store");
  const before = new Date(Date.now() - 3_600_000);
  for (const name of readdirSync(secrets)) utimesSync(join(secrets, name), before, before);
  assert.deepEqual(run("--remove", id), { status: 0, stdout: `removed ${id}\n`, stderr: "" });
  assert.deepEqual(run(), { status: 0, stdout: "", stderr: "" });
  assert.deepEqual(
    readdirSync(folder).filter((name) => name.startsWith("gone")),
    [],
  );
  const again = await startWallet(ours, { walletDir: folder, extra: ["--store", store] });
  try {
    await call(again.url, "open_wallet", { filename: "stays" });
  } finally {
    await again.stop();
  }
});
