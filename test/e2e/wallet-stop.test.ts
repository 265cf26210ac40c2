import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import {
  CallFailed,
  call,
  type ExactObject,
  freePorts,
  loadChain,
  post,
  type RunningDaemon,
  type RunningWallet,
  startDaemon,
  startWallet,
} from "@anulo/testkit";
import { bigintOf, listOf, mine } from "../actors.ts";

/** What a service may take to end, milliseconds. */
const GRACE_MS = 60_000;

test("a wallet service that waits for a silent node saves and ends when it is told to", async (t) => {
  const [port] = await freePorts(1);
  const sockets = new Set<Socket>();
  const asked = new Promise<void>((resolve) => {
    const server = createServer((socket) => {
      sockets.add(socket.on("error", () => {}));
      resolve();
    }).listen(port, "127.0.0.1");
    t.after(() => {
      for (const socket of sockets) socket.destroy();
      server.close();
    });
  });
  const first = await startWallet({ kind: "ours" });
  t.after(() => first.stop());
  await call(first.url, "create_wallet", { filename: "w", language: "English" });
  await call(first.url, "set_attribute", { key: "kept", value: "yes" });
  await call(first.url, "set_daemon", { address: `127.0.0.1:${port}`, ssl_support: "disabled" });
  const refreshing = call(first.url, "refresh").catch((error: Error) => error);
  await asked;
  const killed = setTimeout(() => process.kill(first.pid, "SIGKILL"), GRACE_MS);
  process.kill(first.pid, "SIGTERM");
  assert.equal(await first.ended, 0, "it had to be killed");
  clearTimeout(killed);
  assert.ok((await refreshing) instanceof Error);
  const { walletDir } = first;
  const second = await startWallet({ kind: "ours" }, { walletDir });
  t.after(() => second.stop());
  await call(second.url, "open_wallet", { filename: "w", password: "" });
  assert.equal((await call(second.url, "get_attribute", { key: "kept" })).value, "yes");
});

const { alice, bob } = loadChain().wallets;
const ours = { kind: "ours" } as const;
/** Enough for rings, and for a sweep that takes a while. */
const BLOCKS = 140;
const file = { filename: "w", password: "" };

type Scene = { readonly daemon: RunningDaemon; readonly walletDir: string; readonly total: bigint };

async function openWallet(
  t: TestContext,
  { daemon, walletDir }: Omit<Scene, "total">,
): Promise<RunningWallet> {
  const service = await startWallet(ours, { daemonPort: daemon.port, walletDir });
  t.after(() => service.stop());
  await call(service.url, "auto_refresh", { enable: false });
  await call(service.url, "open_wallet", file).catch(() => undefined);
  return service;
}

/** A wallet with all rewards of a chain. */
async function raise(t: TestContext): Promise<Scene> {
  const walletDir = mkdtempSync(join(tmpdir(), "anulo-stop-"));
  t.after(() => rmSync(walletDir, { recursive: true, force: true }));
  const daemon = await startDaemon(ours);
  t.after(() => daemon.stop());
  await mine(daemon, BLOCKS, alice.address);
  const service = await openWallet(t, { daemon, walletDir });
  await call(service.url, "restore_deterministic_wallet", { ...file, seed: alice.mnemonic });
  await call(service.url, "refresh");
  const total = bigintOf((await call(service.url, "get_balance")).balance);
  await service.stop();
  return { daemon, walletDir, total };
}

const signal = async ({ pid }: RunningWallet) => void process.kill(pid, "SIGTERM");
const byCall = async ({ url }: RunningWallet) => void (await call(url, "stop_wallet"));

/** An answer, a refusal by the service, or status 503: never a connection that ends without a word. */
async function outcomeOf(asked: Promise<ExactObject>): Promise<ExactObject | "refused"> {
  try {
    return await asked;
  } catch (error) {
    if (error instanceof CallFailed) return "refused";
    assert.match((error as Error).message, /HTTP 503/);
    return "refused";
  }
}

type Way = { readonly afterMs: number; readonly stop: (service: RunningWallet) => Promise<void> };

/** Asks, stops the service meanwhile, and answers what was said. */
async function stopDuring(
  t: TestContext,
  scene: Scene,
  { method, params, afterMs, stop }: Way & { readonly method: string; readonly params: ExactObject },
): Promise<ExactObject | "refused"> {
  const service = await openWallet(t, scene);
  const outcome = outcomeOf(call(service.url, method, params));
  await delay(afterMs);
  await stop(service);
  const late = setTimeout(() => process.kill(service.pid, "SIGKILL"), 2 * GRACE_MS);
  assert.equal(await service.ended, 0, method);
  clearTimeout(late);
  return await outcome;
}

/** The wallet opens again by itself, and knows every transaction the node has, and every answer, with its key. */
async function checkNothingLost(t: TestContext, scene: Scene, answers: readonly (ExactObject | "refused")[]) {
  const service = await openWallet(t, scene);
  await call(service.url, "refresh");
  const pool = listOf((await post(`${scene.daemon.url}/get_transaction_pool`)).transactions);
  const told = answers.flatMap((answer) =>
    answer === "refused" ? [] : [answer.tx_hash ?? [], answer.tx_hash_list ?? []].flat().map(String),
  );
  for (const txid of new Set([...pool.map(({ id_hash }) => String(id_hash)), ...told])) {
    assert.match(String((await call(service.url, "get_tx_key", { txid })).tx_key), /^[0-9a-f]{64}/);
    const { transfer } = await call(service.url, "get_transfer_by_txid", { txid });
    assert.equal((transfer as ExactObject).type, "pending");
  }
  for (const txid of told)
    assert.ok(
      pool.some(({ id_hash }) => id_hash === txid),
      `${txid} was not sent`,
    );
  await service.stop();
}

test("a stop in the middle of a payment leaves it done and known, or undone and refused", async (t) => {
  const scene = await raise(t);
  const destinations = [{ address: bob.address, amount: 10n ** 12n }];
  const answers: (ExactObject | "refused")[] = [];
  for (const [at, afterMs] of [0, 60, 180].entries()) {
    const way = { afterMs, stop: at % 2 === 0 ? byCall : signal };
    answers.push(await stopDuring(t, scene, { ...way, method: "transfer", params: { destinations } }));
  }
  await checkNothingLost(t, scene, answers);
  // A node that no longer answers: the payer receives an error.
  process.kill(scene.daemon.pid, "SIGSTOP");
  const payment = { method: "transfer", params: { destinations }, afterMs: 100, stop: byCall };
  const refused = await stopDuring(t, scene, payment).finally(() =>
    process.kill(scene.daemon.pid, "SIGCONT"),
  );
  assert.equal(refused, "refused");
  const sweep = { method: "sweep_all", params: { address: bob.address } };
  answers.push(await stopDuring(t, scene, { ...sweep, afterMs: 400, stop: signal }));
  await checkNothingLost(t, scene, answers);
  t.diagnostic(answers.map((answer) => (answer === "refused" ? answer : "done")).join(" "));
});

test("a stop in the middle of a scan or a restore loses nothing", async (t) => {
  const scene = await raise(t);
  for (const hard of [false, true]) {
    await stopDuring(t, scene, { method: "rescan_blockchain", params: { hard }, afterMs: 20, stop: byCall });
    const service = await openWallet(t, scene);
    await call(service.url, "refresh");
    assert.equal(bigintOf((await call(service.url, "get_balance")).balance), scene.total);
    await service.stop();
  }
  for (const [at, afterMs] of [0, 100].entries()) {
    const filename = `restored${at}`;
    const params = { filename, password: "", seed: bob.mnemonic };
    const restored = await stopDuring(t, scene, {
      method: "restore_deterministic_wallet",
      params,
      afterMs,
      stop: signal,
    });
    const service = await openWallet(t, scene);
    const opened = await outcomeOf(call(service.url, "open_wallet", { filename, password: "" }));
    if (restored !== "refused") assert.notEqual(opened, "refused", "an acknowledged wallet is gone");
    if (opened === "refused") await call(service.url, "restore_deterministic_wallet", params);
    assert.equal((await call(service.url, "get_address", { account_index: 0 })).address, bob.address);
    await service.stop();
  }
});

test("a stop in the middle of a key exchange leaves the wallet as it was, or shared", async (t) => {
  const walletDir = mkdtempSync(join(tmpdir(), "anulo-stop-"));
  t.after(() => rmSync(walletDir, { recursive: true, force: true }));
  const daemon = await startDaemon(ours);
  t.after(() => daemon.stop());
  const scene = { daemon, walletDir, total: 0n };
  const prepare = { enable_multisig_experimental: true };
  const first = await openWallet(t, scene);
  await call(first.url, "create_wallet", { filename: "other", language: "English" });
  const { multisig_info } = await call(first.url, "prepare_multisig", prepare);
  await first.stop();
  const params = { multisig_info: [String(multisig_info)], threshold: 2, password: "" };
  for (const [at, afterMs] of [0, 60].entries()) {
    const filename = `signer${at}`;
    const before = await openWallet(t, scene);
    await call(before.url, "create_wallet", { filename, language: "English" });
    await call(before.url, "prepare_multisig", prepare);
    const outcome = outcomeOf(call(before.url, "make_multisig", params));
    await delay(afterMs);
    await byCall(before);
    assert.equal(await before.ended, 0);
    const made = await outcome;
    const after = await openWallet(t, scene);
    await call(after.url, "open_wallet", { filename, password: "" });
    const { multisig } = await call(after.url, "is_multisig");
    if (made !== "refused") assert.equal(multisig, true, "an acknowledged step is gone");
    const { address } = await call(after.url, "get_address", { account_index: 0 });
    if (made !== "refused") assert.equal(address, made.address);
    await after.stop();
  }
});
