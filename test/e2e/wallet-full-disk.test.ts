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

/** Where the wallets' ledgers are. */
const places = {
  "a journal": () => ["--store", "journal"],
  "the folder's store": (folder: string) => ["--store", join(folder, ".anulo-store", "wallets.mdb")],
} as const;
type Place = keyof typeof places;

/** A service whose files may not grow beyond so many bytes. */
async function startLimited(
  { folder, place }: { readonly folder: string; readonly place: Place },
  bytes: number,
  t: TestContext,
) {
  const [port] = await freePorts(1);
  const args = ["wallet", "--wallet-dir", folder, "--rpc-bind-port", `${port}`, ...places[place](folder)];
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

const FULL_BYTES = 256 * 1024;
const ROOMY_BYTES = 64 * 1024 * 1024;
const unwritten = {
  code: -1,
  message: /The wallet's (?:files|store) cannot be written: (?:EFBIG|the disk is full)/,
};

const forEachPlace = (
  name: string,
  run: (parts: { folder: string; place: Place }, t: TestContext) => unknown,
) => {
  for (const place of Object.keys(places) as Place[])
    test(`${name} (${place})`, async (t) => {
      if (process.platform !== "linux") return t.skip("needs a limit on the size of files");
      const folder = mkdtempSync(join(tmpdir(), "anulo-full-"));
      t.after(() => rmSync(folder, { recursive: true, force: true }));
      await run({ folder, place }, t);
    });
};

forEachPlace(
  "a wallet whose disk is full says so, can be read, and has all it acknowledged",
  async (parts, t) => {
    const open = { filename: "w" };
    const { ask, stop } = await startLimited(parts, FULL_BYTES, t);
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

    const full = await startLimited(parts, FULL_BYTES, t);
    await full.ask("open_wallet", open);
    assert.equal((await full.ask("get_address")).address, address);
    for (let i = 0; i < kept; i++) await full.ask("get_attribute", { key: `note ${i}` });
    await assert.rejects(
      full.ask("set_attribute", { ...note(kept), value: "x".repeat(FULL_BYTES) }),
      unwritten,
    );
    await full.stop();

    const roomy = await startLimited(parts, ROOMY_BYTES, t);
    await roomy.ask("open_wallet", open);
    for (let i = 0; i < kept; i++) await roomy.ask("get_attribute", { key: `note ${i}` });
    await assert.rejects(roomy.ask("get_attribute", { key: `note ${kept}` }), { code: -45 });
    await roomy.ask("set_attribute", note(kept));
    await roomy.stop();
  },
);

forEachPlace(
  "a wallet that can't be made leaves nothing behind, and its password stays",
  async (parts, t) => {
    const { folder } = parts;
    const none = await startLimited(parts, 0, t);
    const params = { filename: "w", password: "old", language: "English" };
    await assert.rejects(none.ask("create_wallet", params), unwritten);
    assert.deepEqual(
      readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((name) => {
        const found = statSync(join(folder, name));
        return found.isFile() && found.size > 0;
      }),
      [],
    );
    await none.stop();
    const some = await startLimited(parts, 1024 * 1024, t);
    await some.ask("create_wallet", params);
    await some.stop();
    const again = await startLimited(parts, 0, t);
    await assert.rejects(again.ask("open_wallet", { filename: "w", password: "old" }), unwritten);
    await again.stop();
    const last = await startLimited(parts, 1024 * 1024, t);
    await last.ask("open_wallet", { filename: "w", password: "old" });
  },
);

test("a journal that a full disk keeps from the store is used as it is, and taken over once there is room", async (t) => {
  if (process.platform !== "linux") return t.skip("needs a limit on the size of files");
  const folder = mkdtempSync(join(tmpdir(), "anulo-full-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const open = { filename: "w" };
  const isJournal = () => statSync(join(folder, "w.anulo")).size > 24;
  const before = await startLimited({ folder, place: "a journal" }, ROOMY_BYTES, t);
  await before.ask("create_wallet", { ...open, language: "English" });
  await before.ask("set_attribute", { key: "a", value: "1" });
  await before.stop();
  const stored = { folder, place: "the folder's store" } as const;
  const full = await startLimited(stored, 32 * 1024, t);
  await full.ask("open_wallet", open);
  assert.equal((await full.ask("get_attribute", { key: "a" })).value, "1");
  assert.ok(isJournal());
  await full.ask("set_attribute", { key: "a", value: "2" });
  await full.stop();
  const roomy = await startLimited(stored, ROOMY_BYTES, t);
  await roomy.ask("open_wallet", open);
  assert.equal((await roomy.ask("get_attribute", { key: "a" })).value, "2");
  assert.ok(!isJournal());
  await roomy.stop();
});
