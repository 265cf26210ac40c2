import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { call, type ExactObject } from "@anulo/devnet";
import { freePorts, postgresMissing, startPostgres } from "@anulo/testkit";

const anulo = fileURLToPath(new URL("../../../bin/anulo.js", import.meta.url));

function start(args: readonly string[], t: TestContext): ChildProcess {
  const child = spawn(process.execPath, [anulo, ...args], { stdio: "ignore" });
  t.after(() => child.kill("SIGKILL"));
  return child;
}

type Ready = { readonly status: number; readonly checks: Readonly<Record<string, string>> };

async function readyOf(port: number): Promise<Ready> {
  const response = await fetch(`http://127.0.0.1:${port}/readyz`);
  return { status: response.status, checks: ((await response.json()) as Ready).checks };
}

/** Asks until the report is as wanted; fails with the last one after as many tries as fit in the five seconds and a slow machine. */
async function until(port: number, isWanted: (ready: Ready) => boolean): Promise<Ready> {
  let last: unknown;
  for (let tries = 0; tries < 300; tries++) {
    const ready = await readyOf(port).catch((error: unknown) => {
      last = error;
      return undefined;
    });
    if (ready !== undefined && isWanted(ready)) return ready;
    last = ready ?? last;
    await delay(50);
  }
  throw new Error(`never as wanted: ${JSON.stringify(last)}`);
}

const isReady = ({ status }: Ready) => status === 200;
const failing = (check: string) => (ready: Ready) => ready.status === 503 && ready.checks[check] !== "ok";

test("readiness is lost with the disk, the node, and blocks that are not scanned, and comes back", async (t) => {
  if (process.platform !== "linux") return t.skip("needs /dev/full");
  const folder = mkdtempSync(join(tmpdir(), "anulo-ready-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const [nodePort = 0, nodeWatch = 0, walletPort = 0, walletWatch = 0] = await freePorts(4);
  const wallets = join(folder, "wallets");
  mkdirSync(wallets);
  const nodeArgs = ["node", "--regtest", "--offline", "--fixed-difficulty", "1", "--data-dir", folder];
  const runNode = () =>
    start([...nodeArgs, "--rpc-bind-port", `${nodePort}`, "--metrics-bind", `${nodeWatch}`], t);
  const node = runNode();
  const walletArgs = ["wallet", "--wallet-dir", wallets, "--disable-rpc-login"];
  const daemon = ["--daemon-address", `127.0.0.1:${nodePort}`, "--store", join(folder, "ledgers.mdb")];
  start(
    [...walletArgs, ...daemon, "--rpc-bind-port", `${walletPort}`, "--metrics-bind", `${walletWatch}`],
    t,
  );
  assert.deepEqual((await until(nodeWatch, isReady)).checks, {
    database: "ok",
    chain: "ok",
    "proof-of-work": "ok",
    disk: "ok",
  });
  const checks = { node: "ok", wallets: "ok", store: "ok", disk: "ok" };
  assert.deepEqual((await until(walletWatch, isReady)).checks, checks);
  const ask = (method: string, params: ExactObject = {}) =>
    call(`http://127.0.0.1:${walletPort}`, method, params);

  // The probe's file leads to a device that is always full; the probe removes it again.
  symlinkSync("/dev/full", join(folder, "regtest", ".anulo-disk-probe"));
  const full = await until(nodeWatch, failing("disk"));
  assert.match(full.checks.disk ?? "", /ENOSPC/);
  symlinkSync("/dev/full", join(wallets, ".anulo-disk-probe"));
  await until(walletWatch, failing("disk"));
  await until(nodeWatch, isReady);
  await until(walletWatch, isReady);

  await ask("create_wallet", { filename: "w", language: "English" });
  await ask("auto_refresh", { enable: false });
  const { address } = await ask("get_address");
  await call(`http://127.0.0.1:${nodePort}`, "generateblocks", {
    amount_of_blocks: 20,
    wallet_address: String(address),
  });
  const behind = await until(walletWatch, failing("wallets"));
  assert.equal(behind.checks.wallets, "1 of 1 open wallets are more than 10 blocks behind the node");
  await ask("refresh");
  await until(walletWatch, isReady);

  node.kill("SIGKILL");
  const away = await until(walletWatch, failing("node"));
  assert.equal(away.checks.node, "no connection to daemon");
  runNode();
  await until(walletWatch, isReady);
});

test("readiness is lost with a PostgreSQL server that goes away", { skip: postgresMissing() }, async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "anulo-ready-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const server = await startPostgres();
  t.after(() => server.stop());
  const [walletPort = 0, walletWatch = 0] = await freePorts(2);
  const args = ["wallet", "--wallet-dir", folder, "--disable-rpc-login", "--store", server.address];
  start([...args, "--rpc-bind-port", `${walletPort}`, "--metrics-bind", `${walletWatch}`], t);
  assert.equal((await until(walletWatch, (ready) => ready.checks.store === "ok")).checks.store, "ok");
  await server.stop();
  const away = await until(walletWatch, failing("store"));
  t.diagnostic(String(away.checks.store));
});
