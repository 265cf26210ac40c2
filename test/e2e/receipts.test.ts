import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { ATOMIC_UNITS_PER_COIN as coin } from "@anulo/protocol";
import { call, startDevnet } from "@anulo/testkit";
import { createWalletService } from "@anulo/wallet";

test("a payment is told of once while it waits in the pool, and once in a block", async (t) => {
  const devnet = await startDevnet();
  t.after(() => devnet.stop());
  await devnet.mine(80);
  const walletDirectory = mkdtempSync(join(tmpdir(), "anulo-receipts-"));
  const told: string[] = [];
  const service = await createWalletService({
    listen: [{ host: "127.0.0.1", port: 0 }],
    walletDirectory,
    daemon: { url: devnet.nodeUrl },
    trustedDaemon: true,
    refreshPeriod: 0,
    onReceived: (txid) => told.push(txid),
  });
  t.after(async () => {
    await service.stop();
    rmSync(walletDirectory, { recursive: true, force: true });
  });
  const { alice, bob } = devnet.wallets;
  const wallet = { filename: "bob", password: "", seed: bob.mnemonic, restore_height: 0 };
  await call(service.url, "restore_deterministic_wallet", wallet);
  const refresh = () => call(service.url, "refresh", {});
  await refresh();
  assert.deepEqual(told, []);
  const txid = await alice.pay(bob.address, coin);
  await refresh();
  assert.deepEqual(told, [txid]);
  await refresh();
  assert.deepEqual(told, [txid]);
  await devnet.mine(1);
  await refresh();
  assert.deepEqual(told, [txid, txid]);
});
