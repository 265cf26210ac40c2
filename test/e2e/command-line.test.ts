import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { fileURLToPath } from "node:url";
import { call, loadChain, post, startDaemon, startWallet, submitBlock } from "@anulo/testkit";

const anulo = fileURLToPath(new URL("../../../bin/anulo.js", import.meta.url));
const ours = { kind: "ours" } as const;
const scratch = mkdtempSync(join(tmpdir(), "command-line-"));
after(() => rmSync(scratch, { recursive: true, force: true }));

type Outcome = { readonly code: number | null; readonly out: string; readonly errors: string };

/** Runs `anulo` to its end. */
async function run(...args: string[]): Promise<Outcome> {
  const child = spawn(process.execPath, [anulo, ...args], { stdio: ["ignore", "pipe", "pipe"] });
  const printed = { out: "", errors: "" };
  child.stdout.on("data", (bytes: Buffer) => {
    printed.out += bytes;
  });
  child.stderr.on("data", (bytes: Buffer) => {
    printed.errors += bytes;
  });
  const [code] = (await once(child, "close")) as [number | null];
  return { code, ...printed };
}

/** A port of 127.0.0.1 that is taken while `use` runs. */
async function withTakenPort<T>(use: (port: string) => Promise<T>): Promise<T> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  assert.ok(typeof address === "object" && address !== null);
  try {
    return await use(String(address.port));
  } finally {
    server.close();
  }
}

const refusals: { readonly [title: string]: { readonly args: readonly string[]; readonly says: RegExp } } = {
  "no command": { args: [], says: /unknown command: none/ },
  "an unknown command": { args: ["mine"], says: /unknown command: mine/ },
  "a misspelt flag of the node": { args: ["node", "--regtset"], says: /did you mean --regtest\?/ },
  "a misspelt flag of the wallet": { args: ["wallet", "--walet-dir=x"], says: /did you mean --wallet-dir\?/ },
  "a peer that is none": {
    args: ["node", "--regtest", "--add-exclusive-node=127.0.0.1:x"],
    says: /--add-exclusive-node: not a port: x/,
  },
  "a peer's name behind a proxy": {
    args: ["node", "--regtest", "--proxy=127.0.0.1:9050", "--add-peer=node.example:18080"],
    says: /--add-peer: node.example would have to be looked up outside the proxy/,
  },
  "half a hidden service": {
    args: ["node", "--regtest", "--tx-proxy=tor,127.0.0.1"],
    says: /--tx-proxy: not a SOCKS proxy/,
  },
  "a ban list that is not there": {
    args: ["node", "--regtest", `--ban-list=${join(scratch, "none")}`],
    says: /--ban-list cannot be read/,
  },
  "another dialect": { args: ["node", "--regtest", "--rpc-dialect=x"], says: /one of contract, upstream: x/ },
  TLS: { args: ["node", "--regtest", "--rpc-ssl=maybe"], says: /--rpc-ssl must be one of enabled/ },
  "half an identity": {
    args: ["node", "--regtest", "--rpc-ssl-certificate=x"],
    says: /--rpc-ssl-private-key and --rpc-ssl-certificate belong together/,
  },
  "an open door": { args: ["node", "--regtest", "--rpc-bind-ip=0.0.0.0"], says: /--confirm-external-bind/ },
  "a place to listen that is none": {
    args: [
      "wallet",
      "--wallet-dir=.",
      "--rpc-bind-port=1",
      "--rpc-bind-ip=nowhere",
      "--confirm-external-bind",
    ],
    says: /Invalid IP address given for --rpc-bind-ip: nowhere/,
  },
  "a login without password, and nobody to ask": {
    args: ["wallet", "--wallet-dir=.", "--rpc-bind-port=1", "--rpc-login=user"],
    says: /--rpc-login: no password/,
  },
  "a node's login without password, and nobody to ask": {
    args: ["wallet", "--wallet-dir=.", "--rpc-bind-port=1", "--disable-rpc-login", "--daemon-login=user"],
    says: /--daemon-login: no password/,
  },
  "a log too loud": { args: ["node", "--regtest", "--log-level=5"], says: /--log-level must be 0 to 4: 5/ },
  "a log that cannot be written": {
    args: [
      "node",
      "--regtest",
      `--data-dir=${join(scratch, "log")}`,
      `--log-file=${join(scratch, "no", "log")}`,
    ],
    says: /--log-file cannot be written: ENOENT.*no.log/,
  },
  "a node that is none": {
    args: ["wallet", "--wallet-dir=.", "--rpc-bind-port=1", "--disable-rpc-login", "--daemon-address=a:b:c"],
    says: /--daemon-address must be ADDRESS:PORT$/m,
  },
  "a wallet without folder": {
    args: ["wallet", "--rpc-bind-port=1"],
    says: /Must specify --wallet-file or .* or --wallet-dir/,
  },
  "a wallet without port": { args: ["wallet", "--wallet-dir=x"], says: /--rpc-bind-port is needed/ },
};

for (const [title, { args, says }] of Object.entries(refusals)) {
  test(`${title}: refused in one clear text, exit code 1`, async () => {
    const { code, out, errors } = await run(...args);
    assert.equal(code, 1);
    assert.equal(out, "");
    assert.match(errors, says);
    assert.doesNotMatch(errors, /\n +at /, "no stack");
  });
}

test("a password that a login lacks is asked for, and not shown", async () => {
  const args = ["wallet", `--wallet-dir=${scratch}`, "--rpc-bind-port=1", "--rpc-login=user"];
  const child = spawn(process.execPath, [
    anulo,
    ...args,
    "--rpc-bind-ip=192.0.2.1",
    "--confirm-external-bind",
  ]);
  let errors = "";
  child.stderr.on("data", (bytes: Buffer) => {
    errors += bytes;
  });
  child.stdin.end("a secret\n");
  await once(child, "close");
  assert.match(errors, /RPC server password: /);
  assert.match(errors, /EADDRNOTAVAIL/, "it went on");
  assert.doesNotMatch(errors, /a secret/);
});

test("help is printed for each command", async () => {
  assert.match((await run("--help")).out, /anulo devnet/);
  for (const command of ["node", "wallet", "devnet"]) {
    const { code, out } = await run(command, "--help");
    assert.equal(code, 0);
    assert.match(out, /--rpc-dialect contract\|upstream/);
  }
});

test("a port that is taken is named", async () => {
  await withTakenPort(async (port) => {
    const attempts = [
      ["node", "--regtest", "--offline", "--data-dir", join(scratch, "taken"), "--rpc-bind-port", port],
      ["node", "--regtest", "--data-dir", join(scratch, "taken"), "--p2p-bind-port", port],
      ["wallet", "--wallet-dir", scratch, "--disable-rpc-login", "--rpc-bind-port", port],
      ["devnet", "--once", "--node-port", port],
    ];
    for (const args of attempts) {
      const { code, errors } = await run(...args);
      assert.equal(code, 1);
      assert.match(errors, new RegExp(`EADDRINUSE.*${port}`));
    }
  });
});

test("the node leaves with 0 on SIGTERM, SIGINT and /stop_daemon, and keeps its chain, even when killed", async () => {
  const dataDir = join(scratch, "kept");
  const height = async (url: string) => Number((await call(url, "get_info")).height);
  const [first, second, third] = loadChain().blocks;
  const sigterm = await startDaemon(ours, { dataDir });
  await submitBlock(sigterm.url, first!.blob);
  await sigterm.stop();
  assert.equal(await sigterm.ended, 0);

  const sigint = await startDaemon(ours, { dataDir });
  assert.equal(await height(sigint.url), 2);
  await submitBlock(sigint.url, second!.blob);
  process.kill(sigint.pid, "SIGINT");
  assert.equal(await sigint.ended, 0);

  const killed = await startDaemon(ours, { dataDir });
  await submitBlock(killed.url, third!.blob);
  await killed.kill();

  const asked = await startDaemon(ours, { dataDir });
  assert.equal(await height(asked.url), 4);
  await post(`${asked.url}/stop_daemon`);
  assert.equal(await asked.ended, 0);
});

test("the wallet service leaves with 0 on SIGTERM, SIGINT and stop_wallet", async () => {
  const sigterm = await startWallet(ours);
  await call(sigterm.url, "create_wallet", { filename: "w", password: "p", language: "English" });
  await sigterm.stop();
  assert.equal(await sigterm.ended, 0);
  const sigint = await startWallet(ours);
  process.kill(sigint.pid, "SIGINT");
  assert.equal(await sigint.ended, 0);
  await sigint.stop();
  const asked = await startWallet(ours);
  await call(asked.url, "stop_wallet");
  assert.equal(await asked.ended, 0);
  await asked.stop();
});

test("the devnet shows a payment arriving and, with --once, ends with 0", async () => {
  const { code, out, errors } = await run("devnet", "--once");
  assert.equal(errors, "");
  assert.equal(code, 0);
  assert.match(out, /alice pays bob 1\.230000000000/);
  assert.match(out, /bob has 1\.230000000000, 1\.230000000000 of it unlocked/);
});

test("a devnet interrupted before its payment does not end with 0 and leaves nothing behind", async () => {
  const TMPDIR = mkdtempSync(join(scratch, "devnet-"));
  const child = spawn(process.execPath, [anulo, "devnet", "--once"], { env: { ...process.env, TMPDIR } });
  await once(child.stdout, "data");
  child.kill("SIGINT");
  const [code] = await once(child, "exit");
  assert.equal(code, 130);
  assert.deepEqual(readdirSync(TMPDIR), []);
});
