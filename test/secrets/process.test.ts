import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { createIdentity } from "@anulo/rpc";
import { loadChain, startWallet } from "@anulo/testkit";
import { exercise } from "./exercise.ts";
import {
  askingWithLogin,
  contentsOf,
  nodeLogin,
  password,
  type Surroundings,
  secretsOfFlags,
  surround,
  walletLogin,
} from "./process-scene.ts";
import { type Secret, seenIn } from "./traces.ts";

const { alice, bob } = loadChain().wallets;
const program = fileURLToPath(new URL("../../../bin/anulo.js", import.meta.url));
const saboteur = new URL("./saboteur.js", import.meta.url);
const ours = { kind: "ours" } as const;
/** Small, so that the log is put aside many times. */
const LOG_FILE_BYTES = 20_000;

type Started = { readonly first?: readonly string[]; readonly format: "text" | "json" };

async function startProcess({ folder, node, tls }: Surroundings, { first, format }: Started) {
  const wallet = await startWallet(ours, {
    daemonPort: node.port,
    login: `${walletLogin.user}:${walletLogin.password}`,
    walletDir: join(folder, "wallets"),
    ...(first !== undefined && { first }),
    env: { NODE_OPTIONS: `--import=${saboteur.href}` },
    extra: [
      ...["--daemon-login", `${nodeLogin.user}:${nodeLogin.password}`, ...tls],
      ...["--log-level", "4", "--log-file", join(folder, "logs", "wallet.log"), "--log-format", format],
      ...["--max-log-file-size", `${LOG_FILE_BYTES}`, "--max-log-files", "0"],
    ],
  });
  return { ...wallet, ...askingWithLogin(wallet.port, walletLogin) };
}

function assertSilent(what: string, text: string, secrets: readonly Secret[]): void {
  assert.deepEqual([...seenIn(text, secrets)], [], what);
}

const timeout = 120_000;

test("a process of the wallet service tells no secret in logs, files or last words", {
  timeout,
}, async (t) => {
  const around = await surround(t);
  const { folder } = around;
  for (const name of ["wallets", "logs"]) mkdirSync(join(folder, name));
  const logs = () => contentsOf(join(folder, "logs"));
  const description = join(folder, "..", `${basename(folder)}.json`);
  t.after(() => rmSync(description, { force: true }));
  const filename = join(folder, "wallets", "hot");
  writeFileSync(description, JSON.stringify({ version: 1, filename, seed: alice.mnemonic, password }));
  const made = await startProcess(around, { first: ["--generate-from-json", description], format: "text" });
  t.after(() => made.stop());
  assert.equal((await made.ask("refresh", {})).code, 0);
  const destinations = [{ address: bob.address, amount: 10 ** 12 }];
  const paid = await made.ask("transfer", { destinations, get_tx_key: true });
  const [, txKey = ""] = /"tx_key": *"([0-9a-f]{64})"/.exec(paid.text) ?? [];
  assert.notEqual(txKey, "", paid.text);
  const secrets: Secret[] = [
    ...secretsOfFlags(around),
    { kind: "transaction key", value: Buffer.from(txKey, "hex") },
  ];
  // What is looked for can be found.
  const told = await made.ask("queryKey", { key_type: "mnemonic" });
  assert.deepEqual(seenIn(told.text, secrets), new Set(["seed"]));
  const filter = `/proc/${made.pid}/coredump_filter`;
  if (existsSync(filter)) assert.equal(Number.parseInt(readFileSync(filter, "utf8"), 16), 0);

  // A program that no longer can seal what it keeps, and one that ends of a sudden.
  process.kill(made.pid, "SIGUSR2");
  const attribute = { key: "a", value: "b" };
  assert.match((await made.ask("setAttribute", attribute)).text, /Internal error/);
  assert.match(logs(), /Invalid key length/);
  const answered = made.ask("changeWalletPassword", { old_password: password, new_password: "x" });
  process.kill(made.pid, "SIGUSR2");
  await answered;
  assert.notEqual(await made.ended, 0);
  made.close();
  assert.match(made.output(), /broken by the test, uncaught/);
  assert.match(logs(), /ended by a bug.*broken by the test, uncaught/);
  assertSilent("the terminal of a process that ended by a bug", made.output(), secrets);

  const running = await startProcess(around, { format: "json" });
  t.after(() => running.stop());
  const hot = { filename: "hot", password };
  assert.equal((await running.ask("openWallet", hot)).code, 0);
  const faults = await exercise({ ask: running.ask, reopen: hot, secrets });
  assert.equal(await running.ended, 0);
  running.close();
  assert.deepEqual(faults, []);
  assertSilent("the terminal", running.output(), secrets);
  const names = readdirSync(join(folder, "logs"));
  assert.ok(names.length > 2, `the log was not put aside: ${names.join(" ")} ${logs().length}`);
  assert.match(logs(), /"severity":"DEBUG"/);
  assertSilent("the files", contentsOf(folder), secrets);
});

/** Command lines with a mistake in them, each with a secret beside it. */
function mistaken(
  folder: string,
  { tlsKeys }: Pick<Surroundings, "tlsKeys">,
): Record<string, readonly string[]> {
  const write = (name: string, text: string) => {
    writeFileSync(join(folder, name), text);
    return join(folder, name);
  };
  const [dir, port] = ["--wallet-dir=.", "--rpc-bind-port=1"];
  const [certificate, other] = [write("c.pem", createIdentity(0).certificate), write("k.key", tlsKeys[0]!)];
  const seed = JSON.stringify({ version: 1, filename: "x", seed: alice.mnemonic, password });
  const keys = { version: 1, filename: "x", spendkey: alice.spend_key, viewkey: bob.view_key, password };
  const json = (name: string, text: string) => [
    port,
    "--disable-rpc-login",
    `--generate-from-json=${write(name, text)}`,
  ];
  return {
    "a password of two words": ["--password", "two", password, dir, port],
    "a flag that is none": [`--pasword=${password}`, dir, port],
    "a login without a user": ["--rpc-login", `:${password}`, dir, port],
    "a login without a colon": ["--rpc-login", password, dir, port],
    "two logins": ["--rpc-login", `a:${password}`, "--disable-rpc-login", dir, port],
    "a node's login without a colon": ["--daemon-login", password, dir, port],
    "a node's address with a login": [`--daemon-address=http://a:${password}@h:99999`, dir, port],
    "a client's key of too few digits": [`--rpc-client-secret-key=${alice.spend_key.slice(1)}`, dir, port],
    "a key file without certificate": [`--rpc-ssl-private-key=${other}`, dir, port],
    "a key of another certificate": [
      ...[`--rpc-ssl-private-key=${other}`, `--rpc-ssl-certificate=${certificate}`, dir, port],
      ...["--disable-rpc-login", "--rpc-ssl=enabled"],
    ],
    "a key file in place of a certificate": [
      ...[`--rpc-ssl-private-key=${other}`, `--rpc-ssl-certificate=${other}`, dir, port],
      ...["--disable-rpc-login", "--rpc-ssl=enabled"],
    ],
    "a configuration without an equals sign": [`--config-file=${write("conf", `password ${password}`)}`],
    "a wrong password": [
      `--wallet-file=${write("w.keys", seed)}`,
      `--password=${password}`,
      port,
      "--disable-rpc-login",
    ],
    "a description that is cut off": json("cut.json", seed.slice(0, -1)),
    "a description with a damaged seed": json("damaged.json", seed.replace(/ \w+/, " abbey")),
    "a description with keys that do not fit": json(
      "keys.json",
      JSON.stringify({ ...keys, address: bob.address }),
    ),
  };
}

test("no mistake in a command line makes it tell the secrets beside it", { timeout }, async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "anulo-secrets-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const tlsKeys = [createIdentity(Date.now()).privateKey];
  const secrets = secretsOfFlags({ tlsKeys });
  for (const [what, flags] of Object.entries(mistaken(folder, { tlsKeys }))) {
    const { status, stdout, stderr } = spawnSync(process.execPath, [program, "wallet", ...flags], {
      cwd: folder,
      encoding: "utf8",
      timeout: 600_000,
    });
    assert.equal(status, 1, `${what}: ${stdout}${stderr}`);
    assert.notEqual(stderr, "", what);
    assertSilent(what, stdout + stderr, secrets);
  }
});
