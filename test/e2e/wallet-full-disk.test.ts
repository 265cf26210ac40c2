import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { call, type ExactObject, freePorts } from "@anulo/testkit";

const anulo = fileURLToPath(new URL("../../../bin/anulo.js", import.meta.url));

/** A service whose files may not grow beyond so many bytes. */
async function startLimited(folder: string, bytes: number, t: TestContext) {
  const [port] = await freePorts(1);
  const args = ["wallet", "--wallet-dir", folder, "--rpc-bind-port", `${port}`];
  const more = ["--disable-rpc-login", "--daemon-address", "127.0.0.1:1"];
  const limited = `ulimit -f ${Math.ceil(bytes / 1024)}; exec "$0" "$@"`;
  const child = spawn("bash", ["-c", limited, process.execPath, anulo, ...args, ...more], {
    stdio: "ignore",
  });
  const ended = new Promise((resolve) => child.once("exit", resolve));
  const stop = async () => {
    child.kill("SIGKILL");
    await ended;
  };
  t.after(stop);
  const ask = (method: string, params: ExactObject = {}) => call(`http://127.0.0.1:${port}`, method, params);
  for (let tries = 0; tries < 200; tries++) {
    if (await ask("get_version").catch(() => undefined)) return { ask, stop };
    await delay(50);
  }
  throw new Error("the wallet service did not start");
}

const unwritten = { code: -1, message: /The wallet's files cannot be written: EFBIG/ };

test("a wallet whose disk is full says so, can be read, and has all it acknowledged", async (t) => {
  if (process.platform !== "linux") return t.skip("needs a limit on the size of files");
  const folder = mkdtempSync(join(tmpdir(), "anulo-full-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const open = { filename: "w" };
  const { ask, stop } = await startLimited(folder, 64 * 1024, t);
  await ask("create_wallet", { ...open, language: "English" });
  const { address } = await ask("get_address");
  let kept = 0;
  const note = (number: number) => ({ key: `note ${number}`, value: "x".repeat(3000) });
  await assert.rejects(async () => {
    for (;;) {
      await ask("set_attribute", note(kept));
      kept++;
    }
  }, unwritten);
  assert.ok(kept > 5);
  assert.equal((await ask("get_address")).address, address);
  await assert.rejects(ask("create_address", { account_index: 0 }), unwritten);
  await ask("close_wallet");
  await ask("open_wallet", open);
  assert.equal((await ask("get_address")).address, address);
  await stop();

  const roomy = await startLimited(folder, 64 * 1024 * 1024, t);
  await roomy.ask("open_wallet", open);
  for (let i = 0; i < kept; i++) await roomy.ask("get_attribute", { key: `note ${i}` });
  await assert.rejects(roomy.ask("get_attribute", { key: `note ${kept}` }), { code: -45 });
  await roomy.ask("set_attribute", note(kept));
  await roomy.stop();
});

test("a wallet that can't be made leaves nothing behind, and its password stays", async (t) => {
  if (process.platform !== "linux") return t.skip("needs a limit on the size of files");
  const folder = mkdtempSync(join(tmpdir(), "anulo-full-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const none = await startLimited(folder, 0, t);
  const params = { filename: "w", password: "old", language: "English" };
  await assert.rejects(none.ask("create_wallet", params), unwritten);
  assert.deepEqual(
    readdirSync(folder).filter((name) => statSync(join(folder, name)).size > 0),
    [],
  );
  await none.stop();
  const some = await startLimited(folder, 1024 * 1024, t);
  await some.ask("create_wallet", params);
  await some.stop();
  const again = await startLimited(folder, 0, t);
  await assert.rejects(again.ask("open_wallet", { filename: "w", password: "old" }), unwritten);
  await again.stop();
  const last = await startLimited(folder, 1024 * 1024, t);
  await last.ask("open_wallet", { filename: "w", password: "old" });
});
