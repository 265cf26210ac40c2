import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import {
  call,
  freePorts,
  loadChain,
  originalProgram,
  type RunningWallet,
  startDaemon,
  startWallet,
} from "@anulo/testkit";
import { makerOf, mine, needsRealPrograms, type Side, usualRelease } from "../actors.ts";

const { alice, bob } = loadChain().wallets;
const anulo = fileURLToPath(new URL("../../../bin/anulo.js", import.meta.url));
const commands = {
  ours: () => [process.execPath, anulo, "wallet"],
  real: () => [originalProgram("monero-wallet-rpc", usualRelease)],
} as const;
const sides = ["ours", "real"] as const satisfies Side[];

function scratch(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), "anulo-flags-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

function run(side: Side, args: readonly string[], cwd: string): { status: number | null; text: string } {
  const [command, ...first] = commands[side]() as [string, ...string[]];
  const { status, stdout, stderr } = spawnSync(command, [...first, ...args], {
    cwd,
    input: "",
    encoding: "utf8",
    timeout: 300_000,
  });
  return { status, text: stdout + stderr };
}

test("every flag of the original is known", needsRealPrograms, (t) => {
  const namesOf = (side: Side) => {
    const found = run(side, ["--help"], scratch(t)).text.matchAll(/^ {2}--([a-z0-9-]+)/gm);
    return [...found].map(([, name]) => name!);
  };
  const ours = new Set(namesOf("ours"));
  const original = namesOf("real");
  assert.ok(original.length > 60);
  assert.deepEqual(
    original.filter((name) => !ours.has(name)),
    [],
  );
});

/** Command lines, and what both programs say to them before they end. */
const refused: readonly (readonly [args: readonly string[], reason: string])[] = [
  [[], "Must specify --wallet-file or --generate-from-json or --wallet-dir"],
  [["--wallet-file", "a", "--generate-from-json", "b"], "Can't specify more than one of --wallet-file"],
  [["--wallet-dir", "a", "--wallet-file", "b"], "wallet-dir and wallet-file are incompatible"],
  [["--wallet-dir", ".", "--password-file", "b"], "--password-file is not allowed in combination with"],
  [
    ["--wallet-file", "a", "--password", "b", "--password-file", "c"],
    "can't specify more than one of --pass",
  ],
  [["--wallet-file", "a", "--password-file", "c"], "the password file specified could not be read"],
  [["--wallet-file", "a"], "no password specified; use --prompt-for-password"],
  [["--wallet-file", "a", "--password", "b"], 'file not found "a.keys"'],
  [["--generate-from-json", "nothing"], "Error creating wallet: Failed to load file nothing"],
  [["--generate-from-json", "bad.json"], "Failed to parse JSON"],
  [
    ["--wallet-dir", ".", "--testnet", "--stagenet"],
    "Can't specify more than one of --testnet and --stagenet",
  ],
  [["--wallet-dir", ".", "--rpc-login", "a:b", "--disable-rpc-login"], "Cannot specify --disable-rpc-login"],
  [["--wallet-dir", ".", "--rpc-login", ":b"], "Username specified with --rpc-login cannot be empty"],
  [["--wallet-file", "a", "--password", "", "--kdf-rounds", "0"], "KDF rounds must not be 0"],
  [
    ["--wallet-file", "a", "--password", "", "--proxy", "9050"],
    "Enabling --proxy requires --daemon-ssl-allow",
  ],
  [["--wallet-file", "a", "--password", "", "--daemon-ssl", "enabled"], "Enabling --daemon-ssl requires"],
  [
    ["--wallet-file", "a", "--password", "", "--proxy", "nowhere", "--daemon-ssl-allow-any-cert"],
    "Invalid address specified for --proxy",
  ],
  [
    ["--wallet-file", "a", "--password", "", "--trusted-daemon", "--untrusted-daemon"],
    "--trusted-daemon and --untrusted-daemon are both seen",
  ],
  [
    ["--wallet-file", "a", "--password", "", "--daemon-ssl-allowed-fingerprints", "abcd"],
    "SHA-256 fingerprint should be",
  ],
  [
    ["--wallet-file", "a", "--password", "", "--extra-entropy", "none"],
    "Failed to load extra entropy from none",
  ],
];

for (const side of sides) {
  test(`flags that do not go together are refused: ${side}`, needsRealPrograms, async (t) => {
    const folder = scratch(t);
    writeFileSync(join(folder, "bad.json"), "{");
    const [port] = await freePorts(1);
    for (const [args, reason] of refused) {
      const usual = ["--rpc-bind-port", `${port}`, "--log-file", join(folder, "log")];
      const { status, text } = run(side, [...usual, ...args], folder);
      assert.notEqual(status, null, `${args.join(" ")} keeps running`);
      assert.ok(text.includes(reason), `${args.join(" ")}: ${text.slice(-400)}`);
      if (side === "ours") assert.equal(status, 1);
    }
  });
}

async function keysOf({ url }: RunningWallet) {
  const key = async (key_type: string) => (await call(url, "query_key", { key_type })).key;
  const { address } = await call(url, "get_address", { account_index: 0 });
  return { address, mnemonic: await key("mnemonic"), view: await key("view_key") };
}

test(
  "a wallet made from JSON by either program is opened by the other as its file",
  needsRealPrograms,
  async (t) => {
    const made = [];
    for (const side of sides) {
      const folder = scratch(t);
      const file = join(folder, "made");
      const json = join(folder, "w.json");
      const password = "pass word";
      writeFileSync(json, JSON.stringify({ version: 1, filename: file, seed: alice.mnemonic, password }));
      const [maker, opener] = side === "ours" ? (["ours", "real"] as const) : (["real", "ours"] as const);
      const first = await startWallet(makerOf(maker), { first: ["--generate-from-json", json] });
      made.push(await keysOf(first));
      await first.stop();
      writeFileSync(join(folder, "password"), `${password}\r\n`);
      const flags = ["--wallet-file", file, "--password-file", join(folder, "password")];
      const second = await startWallet(makerOf(opener), { first: flags });
      made.push(await keysOf(second));
      await second.stop();
    }
    for (const keys of made) assert.deepEqual(keys, made[0]);
    assert.equal(made[0]?.address, alice.address);
  },
);

test("a program is told of the same payments by both", needsRealPrograms, async (t) => {
  const daemon = await startDaemon(makerOf("real"));
  t.after(() => daemon.stop());
  const started: RunningWallet[] = [];
  t.after(() => Promise.all(started.map((wallet) => wallet.stop())));
  const outs: string[] = [];
  for (const side of sides) {
    const folder = scratch(t);
    const [program, out] = [join(folder, "program"), join(folder, "out")];
    writeFileSync(program, `#!/bin/sh\necho "$@" >> ${out}\n`);
    chmodSync(program, 0o755);
    const extra = ["--tx-notify", `${program} got %s`];
    const wallet = await startWallet(makerOf(side), { daemonPort: daemon.port, extra });
    started.push(wallet);
    await call(wallet.url, "restore_deterministic_wallet", {
      filename: "w",
      password: "",
      seed: bob.mnemonic,
      restore_height: 0,
    });
    outs.push(out);
  }
  await mine(daemon, 3, bob.address);
  for (const { url } of started) await call(url, "refresh", {});
  const linesOf = (out: string) =>
    existsSync(out) ? readFileSync(out, "utf8").trim().split("\n").sort() : [];
  for (const out of outs) while (linesOf(out).length < 3) await delay(20);
  assert.deepEqual(linesOf(outs[0]!), linesOf(outs[1]!));
  assert.match(linesOf(outs[0]!)[0]!, /^got [0-9a-f]{64}$/);
});
