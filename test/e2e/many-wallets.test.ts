/** Many wallets of one service on a private chain. */
import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, type TestContext, test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { ATOMIC_UNITS_PER_COIN as coin } from "@anulo/protocol";
import { call, type Devnet, type Exact, startDevnet } from "@anulo/testkit";
import { createWalletService, type WalletServiceOptions } from "@anulo/wallet";

let devnet: Devnet;
before(async () => {
  devnet = await startDevnet();
});
after(() => devnet.stop());

const createParams = { filename: "", password: "", language: "English" };

const makeFolder = () => mkdtempSync(join(tmpdir(), "anulo-many-"));
const remove = (folder: string) => rmSync(folder, { recursive: true, force: true });

async function start(t: TestContext, options: Partial<WalletServiceOptions> = {}) {
  const folder = makeFolder();
  const service = await createWalletService({
    listen: [{ host: "127.0.0.1", port: 0 }],
    walletDirectory: folder,
    daemon: { url: devnet.nodeUrl },
    trustedDaemon: true,
    ...options,
  });
  t.after(async () => {
    await service.stop();
    remove(folder);
  });
  return asker(service.url);
}

const asker =
  (url: string) =>
  (name: string, method: string, params: Exact = {}) =>
    call(name === "" ? url : `${url}/wallets/${name}`, method, params);

type Asker = ReturnType<typeof asker>;
const addressOf = async (ask: Asker, name: string) => String((await ask(name, "get_address")).address);
const balanceOf = async (ask: Asker, name: string) =>
  BigInt(String((await ask(name, "get_balance", { account_index: 0 })).balance));

/** Asks again until a wallet that follows the chain on its own is as high. */
async function untilAt(ask: Asker, name: string, height: number): Promise<void> {
  while (Number((await ask(name, "get_height")).height) < height) await delay(100);
}

test("two wallets pay one another at once while a third is the open one of the unnamed path", async (t) => {
  const ask = await start(t, { refreshPeriod: 0 });
  for (const name of ["a", "b"]) await ask(name, "create_wallet", createParams);
  await ask("", "create_wallet", { ...createParams, filename: "c" });
  const [a, b, c] = [await addressOf(ask, "a"), await addressOf(ask, "b"), await addressOf(ask, "")];
  assert.equal(new Set([a, b, c]).size, 3);
  for (const address of [a, b]) await devnet.mine(5, address);
  await devnet.mine(70);
  await Promise.all(["a", "b", ""].map((name) => ask(name, "refresh")));
  const before = [await balanceOf(ask, "a"), await balanceOf(ask, "b")] as const;
  const pay = (from: string, to: string, amount: bigint) =>
    ask(from, "transfer", { destinations: [{ address: to, amount }] });
  const [paidByA, paidByB] = await Promise.all([pay("a", b, 3n * coin), pay("b", a, coin)]);
  await devnet.mine(10);
  await Promise.all(["a", "b", ""].map((name) => ask(name, "refresh")));
  const fee = ({ fee: told }: typeof paidByA) => BigInt(String(told));
  assert.equal(await balanceOf(ask, "a"), before[0] - 3n * coin - fee(paidByA) + coin);
  assert.equal(await balanceOf(ask, "b"), before[1] - coin - fee(paidByB) + 3n * coin);
  assert.equal(await balanceOf(ask, ""), 0n);
});

test("50 wallets follow the chain on their own, whatever the node of one does", async (t) => {
  const ask = await start(t, { refreshPeriod: 1 });
  const names = Array.from({ length: 50 }, (_, i) => `w${i}`);
  await Promise.all(names.map((name) => ask(name, "create_wallet", createParams)));
  // Nobody listens there. Scans take turns, so that what was under way is over afterwards.
  await ask("w0", "set_daemon", { address: "http://127.0.0.1:1" });
  await assert.rejects(ask("w0", "refresh"), { code: -38 });
  await ask("w1", "auto_refresh", { enable: false });
  await ask("w1", "refresh");
  const stays = Number((await ask("w1", "get_height")).height);
  const paid = await addressOf(ask, "w49");
  await devnet.mine(1, paid);
  const height = await devnet.mine(2);
  await Promise.all(names.slice(2).map((name) => untilAt(ask, name, height)));
  assert.ok((await balanceOf(ask, "w49")) > 0n);
  assert.equal(await balanceOf(ask, "w48"), 0n);
  assert.ok(Number((await ask("w0", "get_height")).height) < height);
  assert.equal(Number((await ask("w1", "get_height")).height), stays);
});

const program = fileURLToPath(new URL("../../../bin/anulo.js", import.meta.url));

/** The service as a process of its own. */
async function spawnService(t: TestContext, folder: string): Promise<{ child: ChildProcess; ask: Asker }> {
  const flags = ["--wallet-dir", folder, "--rpc-bind-port", "0", "--disable-rpc-login"];
  const args = [program, "wallet", ...flags, "--daemon-address", devnet.nodeUrl];
  const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
  const ended = once(child, "exit");
  t.after(async () => {
    child.kill("SIGKILL");
    await ended;
  });
  let said = "";
  for await (const part of child.stdout!) {
    said += String(part);
    const url = /wallet service: (\S+)/.exec(said)?.[1];
    if (url !== undefined) return { child, ask: asker(url) };
  }
  throw new Error(`the service did not start: ${said}`);
}

test("a service that is killed with many wallets open opens them all again", async (t) => {
  const folder = makeFolder();
  const first = await spawnService(t, folder);
  const names = Array.from({ length: 20 }, (_, i) => `w${i}`);
  await Promise.all(names.map((name) => first.ask(name, "create_wallet", createParams)));
  const addresses = await Promise.all(names.map((name) => addressOf(first.ask, name)));
  await Promise.all(names.map((name) => first.ask(name, "create_account", { label: name })));
  first.child.kill("SIGKILL");
  await once(first.child, "exit");
  const second = await spawnService(t, folder);
  // After the processes have ended: hooks run in order.
  t.after(() => remove(folder));
  assert.deepEqual(await Promise.all(names.map((name) => addressOf(second.ask, name))), addresses);
  for (const name of names) {
    const { subaddress_accounts: accounts } = await second.ask(name, "get_accounts");
    assert.equal((accounts as readonly Exact[]).length, 2);
  }
});
