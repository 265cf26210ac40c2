import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { call, type Maker, startDaemon, startWallet } from "@anulo/testkit";

const ours: Maker = { kind: "ours" };
const anulo = fileURLToPath(new URL("../../../bin/anulo.js", import.meta.url));

function run(...args: string[]): { code: number | null; out: string; err: string } {
  const { status, stdout, stderr } = spawnSync(process.execPath, [anulo, ...args], { encoding: "utf8" });
  return { code: status, out: stdout, err: stderr };
}

test("devnet --once shows the payment and ends well", () => {
  const { code, out, err } = run("devnet", "--once");
  assert.equal(code, 0, err);
  assert.match(out, /bob has 1\.230000000000, 1\.230000000000 of it unlocked/);
});

test("a port in use ends a program with the reason", async () => {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  const port = typeof address === "object" && address !== null ? `${address.port}` : "";
  const folder = mkdtempSync(join(tmpdir(), "anulo-test-"));
  const attempts = [
    run("node", "--regtest", "--data-dir", folder, "--rpc-bind-port", port),
    run("wallet", "--wallet-dir", folder, "--disable-rpc-login", "--rpc-bind-port", port),
    run("devnet", "--once", "--node-port", port),
  ];
  server.close();
  rmSync(folder, { recursive: true });
  for (const { code, err } of attempts) {
    assert.equal(code, 1);
    assert.match(err, /EADDRINUSE/);
  }
});

test("a command line that cannot be obeyed is refused in one line", () => {
  const refusals = {
    "node --regtset": "anulo: unknown flag --regtset, did you mean --regtest?\n",
    "node --regtest --fixed-difficulty=2":
      "anulo: a difficulty above 1 needs RandomX, which is not supported yet\n",
    "node --stagenet": "anulo: the network stagenet is not supported yet\n",
    "node --regtest --rpc-bind-ip 0.0.0.0":
      "anulo: --rpc-bind-ip 0.0.0.0 opens RPC to others: confirm with --confirm-external-bind\n",
    "wallet --rpc-bind-port 1": "anulo: --wallet-dir is needed\n",
    "wallet --wallet-dir .": "anulo: --rpc-bind-port is needed\n",
    "wallet --wallet-dir . --rpc-bind-port 1 --disable-rpc-login --daemon-address a:b:c":
      "anulo: --daemon-address must be ADDRESS:PORT: a:b:c\n",
  };
  const folder = mkdtempSync(join(tmpdir(), "anulo-test-"));
  for (const [line, expected] of Object.entries(refusals)) {
    const [command = "", ...args] = line.split(" ");
    const place = command === "node" ? ["--data-dir", folder] : [];
    const { code, err } = run(command, ...args, ...place);
    assert.deepEqual([code, err], [1, expected], line);
  }
  rmSync(folder, { recursive: true });
});

test("every command shows its flags", () => {
  for (const command of ["node", "wallet", "devnet"]) {
    const { code, out } = run(command, "--help");
    assert.equal(code, 0);
    assert.match(out, /--rpc-dialect contract\|upstream/);
  }
});

test("both programs leave on SIGTERM with code 0, and the chain is still there", async () => {
  const folder = mkdtempSync(join(tmpdir(), "anulo-test-"));
  const node = await startDaemon(ours, { dataDir: folder });
  const wallet = await startWallet(ours, { daemonPort: node.port });
  const { address } = await call(wallet.url, "create_wallet", { filename: "w", language: "English" }).then(
    () => call(wallet.url, "get_address"),
  );
  await call(node.url, "generateblocks", { amount_of_blocks: 3, wallet_address: String(address) });
  await Promise.all([wallet.stop(), node.stop()]);
  assert.deepEqual([await wallet.ended, await node.ended], [0, 0]);
  const again = await startDaemon(ours, { dataDir: folder });
  const { count } = await call(again.url, "get_block_count");
  await again.stop();
  rmSync(folder, { recursive: true });
  assert.equal(count, 4);
});
