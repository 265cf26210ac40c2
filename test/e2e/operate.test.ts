import assert from "node:assert/strict";
import { execFile, spawn } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { cp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { type TestContext, test } from "node:test";
import { fileURLToPath } from "node:url";
import { call, type ExactObject } from "@anulo/devnet";
import { freePorts } from "@anulo/testkit";
import { shellExamples } from "../documents/examples.ts";

const root = fileURLToPath(new URL("../../../", import.meta.url));

function folderFor(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), "anulo-operate-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** Runs a program to its end: its exit code, or the signal, and all it wrote. */
function run(
  program: string,
  args: readonly string[],
  options: { env?: NodeJS.ProcessEnv; cwd?: string } = {},
) {
  return new Promise<{ code: unknown; text: string }>((resolve) => {
    execFile(program, [...args], options, (error, out, complaint) =>
      resolve({ code: error?.code ?? error?.signal ?? 0, text: `${out}${complaint}` }),
    );
  });
}

test("the page's commands install, back up, restore and upgrade", async (t) => {
  if (process.platform === "win32") return t.skip("needs a shell");
  const folder = mkdtempSync(join(tmpdir(), "anulo-operate-"));
  t.after(() => {
    for (const file of readdirSync(join(folder, "run")))
      process.kill(Number(readFileSync(join(folder, "run", file), "utf8")), "SIGKILL");
    rmSync(folder, { recursive: true, force: true, maxRetries: 10 });
  });
  const place = (name: string) => {
    mkdirSync(join(folder, name));
    return join(folder, name);
  };
  const [settings, pids, wallets, backup, programs] = ["etc", "run", "wallets", "backup", "programs"].map(
    place,
  );
  const [nodePort = 0, nodeWatch = 0, walletPort = 0, walletWatch = 0] = await freePorts(4);
  const lines = (...all: string[]) => `${all.join("\n")}\n`;
  const chain = ["regtest=1", "offline=1", "fixed-difficulty=1", `data-dir=${folder}`];
  writeFileSync(
    join(settings!, "node.conf"),
    lines(...chain, `rpc-bind-port=${nodePort}`, `metrics-bind=${nodeWatch}`),
  );
  const service = [`wallet-dir=${wallets}`, "disable-rpc-login=1", `daemon-address=127.0.0.1:${nodePort}`];
  writeFileSync(
    join(settings!, "wallet.conf"),
    lines(...service, `rpc-bind-port=${walletPort}`, `metrics-bind=${walletWatch}`),
  );
  const starter = join(programs!, "anulo");
  writeFileSync(starter, `#!/bin/sh\nexec "${process.execPath}" "${join(root, "bin/anulo.js")}" "$@"\n`, {
    mode: 0o755,
  });
  const env = {
    ...process.env,
    PATH: `${programs}:${process.env.PATH}`,
    ETC: settings,
    RUN: pids,
    WALLETS: wallets,
    BACKUP: backup,
    NODE_WATCH: `http://127.0.0.1:${nodeWatch}`,
    WALLET_WATCH: `http://127.0.0.1:${walletWatch}`,
  };
  const ask = (method: string, params: ExactObject = {}) =>
    call(`http://127.0.0.1:${walletPort}`, method, params);
  const shell = async (heading: string) => {
    const { code, text } = await run(
      "bash",
      ["-euo", "pipefail", "-c", shellExamples("docs/operate.md", heading).join("")],
      { env },
    );
    assert.equal(code, 0, `${heading}: ${text}`);
    return text;
  };
  assert.match(await shell("Install"), /height 1 of 1/);
  await ask("create_wallet", { filename: "kept", language: "English" });
  const { address } = await ask("get_address");
  await shell("Back up");
  await ask("create_wallet", { filename: "later", language: "English" });
  await shell("Restore");
  await ask("open_wallet", { filename: "kept" });
  assert.equal((await ask("get_address")).address, address);
  assert.ok(!existsSync(join(wallets!, "later.keys")), "what came after the backup is gone");
  assert.match(await shell("Upgrade"), /height 0, /);
});

test("the units can be read by systemd", async (t) => {
  const folder = join(root, "operate/systemd");
  for (const file of readdirSync(folder)) {
    const { code, text } = await run("systemd-analyze", ["verify", "--man=no", join(folder, file)]);
    if (code === "ENOENT") return t.skip("needs systemd-analyze");
    const problems = text.split("\n").filter((line) => line.includes(basename(file)));
    assert.deepEqual(problems, []);
  }
});

/** Flags in a file of operate/, each with the command it is for. */
function flagsIn(file: string): readonly { command: string; flag: string }[] {
  let command = "";
  return readFileSync(join(root, "operate", file), "utf8")
    .split("\n")
    .filter((line) => !/^\s*#|^(?:FROM|COPY|RUN|HEALTHCHECK)/.test(line))
    .flatMap((line) => {
      command = /(?:anulo\.js |\["|- )(node|wallet)\b(?!:)/.exec(line)?.[1] ?? command;
      return [...line.matchAll(/--([a-z][a-z0-9-]+)/g)].map(([, flag]) => ({ command, flag: flag! }));
    });
}

test("every flag in units and container files is one of its command", async () => {
  const help = new Map<string, string>();
  for (const command of ["node", "wallet"])
    help.set(command, (await run(process.execPath, [join(root, "bin/anulo.js"), command, "--help"])).text);
  const files = ["systemd/anulo-node.service", "systemd/anulo-wallet.service"];
  const images = ["container/Containerfile", "container/compose.yml"];
  const flags = [...files, ...images].flatMap(flagsIn);
  assert.ok(flags.length > 20);
  const unknown = flags.filter(({ command, flag }) => !help.get(command)?.includes(`--${flag} `));
  assert.deepEqual(unknown, []);
});

test("the second stage of the container file is all that the program needs", async (t) => {
  const folder = folderFor(t);
  const text = readFileSync(join(root, "operate/container/Containerfile"), "utf8");
  const copies = [...text.matchAll(/^COPY --from=build \/src\/(\S+) \.\/(\S+)$/gm)];
  assert.deepEqual(
    copies.map(([, from]) => from),
    ["node_modules", "packages", "bin"],
  );
  for (const [, from = "", to = ""] of copies) {
    // As the first stage leaves them, but for packages that only tests need.
    if (from === "bin") await cp(join(root, from), join(folder, to), { recursive: true });
    else symlinkSync(join(root, from), join(folder, to));
  }
  const [, entry = ""] = /^ENTRYPOINT \["node", "\/app\/(.+)"\]$/m.exec(text) ?? [];
  const args = [join(folder, entry), "node", "--regtest", "--offline", "--rpc-bind-port", "0"];
  const child = spawn(process.execPath, [...args, "--data-dir", join(folder, "data")], {
    cwd: folder,
    stdio: ["ignore", "pipe", "inherit"],
  });
  const [first] = await new Promise<[string]>((resolve) => {
    child.stdout.once("data", (bytes: Buffer) => resolve([String(bytes)]));
    child.once("exit", (code) => resolve([`ended with ${code}`]));
  });
  child.kill();
  assert.match(first, /^node: http:\/\/127\.0\.0\.1:\d+/);
  assert.equal(await new Promise((resolve) => child.once("exit", resolve)), 0);
});
