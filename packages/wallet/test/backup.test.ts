/** Copies of wallets that a service has open, and wallets put back from them. */
import assert from "node:assert/strict";
import { createHash, randomBytes } from "node:crypto";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { type Client, createClient, walletMethods } from "@anulo/rpc";
import { type Engine, openLmdbEngine } from "@anulo/store";
import { backupWallets, restoreWallets } from "../src/index.ts";
import { walletHandlers } from "../src/rpc/handlers.ts";
import { WalletService } from "../src/service.ts";
import { startTestService } from "./service.ts";

function world(t: TestContext) {
  const root = mkdtempSync(join(tmpdir(), "anulo-backup-"));
  const stops: (() => Promise<void>)[] = [];
  t.after(async () => {
    for (const stop of stops) await stop();
    rmSync(root, { recursive: true, force: true });
  });
  const at = (name: string) => {
    mkdirSync(join(root, name), { recursive: true });
    return join(root, name);
  };
  const storeOf = (folder: string) => join(folder, ".anulo-store");
  /** The database of each folder while a service runs: a process has it open once. */
  const engines = new Map<string, Engine>();
  const open = (folder: string) => openLmdbEngine(join(storeOf(folder), "wallets.mdb"));
  const withEngine = async <T>(folder: string, task: (engine: Engine) => Promise<T>): Promise<T> => {
    const running = engines.get(folder);
    if (running !== undefined) return await task(running);
    const engine = open(folder);
    try {
      return await task(engine);
    } finally {
      await engine.close();
    }
  };
  const start = async (folder: string, { acceptsOlder = false } = {}) => {
    const engine = open(folder);
    engines.set(folder, engine);
    const service = new WalletService(
      {
        listen: [{ host: "127.0.0.1", port: 0 }],
        walletDirectory: folder,
        daemon: { url: "" },
        network: "regtest",
        refreshPeriod: 0,
      },
      walletHandlers,
      { store: { engine, folder: storeOf(folder), serviceKey: undefined, acceptsOlder } },
    );
    await service.start();
    const call = createClient(walletMethods, service.url);
    let isStopped = false;
    const stop = async () => {
      if (isStopped) return;
      isStopped = true;
      await closeWallet(call);
      call.close();
      await service.stop();
      engines.delete(folder);
    };
    stops.push(stop);
    return { call, stop };
  };
  return { at, withEngine, start };
}

/** A service that stops waits three seconds for wallets to close: on a busy machine their locks would outlive it. */
async function closeWallet(call: Client<typeof walletMethods>): Promise<void> {
  await call.closeWallet({}).catch((error: Error) => assert.match(error.message, /No wallet file/));
}

const created = { filename: "w", password: "p", language: "English" };
const opened = { filename: "w", password: "p" };

test("wallets are copied while they change, and are elsewhere what they were then", async (t) => {
  const { at, start, withEngine } = world(t);
  const [live, copies, elsewhere] = [at("live"), at("copies"), at("elsewhere")];
  const service = await start(live);
  await service.call.createWallet(created);
  await service.call.setAttribute({ key: "a", value: "then" });
  await service.call.createWallet({ ...created, filename: "v" });
  await service.call.openWallet(opened);
  await withEngine(live, async (engine) => {
    const changing = Array.from({ length: 20 }, (_, i) =>
      service.call.setAttribute({ key: "a", value: i === 19 ? "now" : "then" }),
    );
    const { count, failures } = await backupWallets({ folder: live, copies, engine });
    assert.deepEqual([count, failures], [2, []]);
    await Promise.all(changing);
  });
  assert.deepEqual(readdirSync(copies).sort(), ["v.keys", "v.rows", "w.keys", "w.rows"]);
  await assert.rejects(
    withEngine(live, (engine) => backupWallets({ folder: live, copies, engine })),
    /is not empty/,
  );
  await service.stop();
  await withEngine(elsewhere, async (engine) => {
    const { count, failures } = await restoreWallets(
      { folder: elsewhere, copies, engine },
      { only: "w", replaces: false },
    );
    assert.deepEqual([count, failures], [1, []]);
  });
  const other = await start(elsewhere);
  await other.call.openWallet(opened);
  const { value } = await other.call.getAttribute({ key: "a" });
  assert.ok(value === "then" || value === "now");
  await other.call.setAttribute({ key: "a", value: "elsewhere" });
  await other.stop();
});

test("a copy in place of a wallet that had come further is said to be older", async (t) => {
  const { at, start, withEngine } = world(t);
  const [live, copies] = [at("live"), at("copies")];
  let service = await start(live);
  await service.call.createWallet(created);
  await service.call.setAttribute({ key: "a", value: "1" });
  const place = (engine: Engine) => ({ folder: live, copies, engine });
  await withEngine(live, (engine) => backupWallets(place(engine)));
  await service.call.setAttribute({ key: "a", value: "2" });
  const restore = (replaces: boolean) =>
    withEngine(live, (engine) => restoreWallets(place(engine), { replaces }));
  assert.match((await restore(true)).failures[0]?.reason ?? "", /another service has it open/);
  await service.stop();
  assert.match((await restore(false)).failures[0]?.reason ?? "", /--replace/);
  assert.equal((await restore(true)).count, 1);
  service = await start(live);
  await assert.rejects(service.call.openWallet(opened), /--accept-older-store/);
  await service.stop();
  service = await start(live, { acceptsOlder: true });
  await service.call.openWallet(opened);
  assert.equal((await service.call.getAttribute({ key: "a" })).value, "1");
  await service.stop();
  service = await start(live);
  await service.call.openWallet(opened);
  await service.stop();
});

test("a wallet with a journal is copied as it is, and a changed copy is not put back", async (t) => {
  const { at, start, withEngine } = world(t);
  const [live, copies, elsewhere] = [at("live"), at("copies"), at("elsewhere")];
  const { call, stop } = await startTestService({ folder: live }, t);
  await call.createWallet(created);
  await call.setAttribute({ key: "a", value: "1" });
  const place = { folder: live, copies, engine: undefined };
  assert.equal((await backupWallets(place)).count, 1);
  await closeWallet(call);
  await stop();
  assert.equal((await restoreWallets({ ...place, folder: elsewhere }, { replaces: false })).count, 1);
  const other = await startTestService({ folder: elsewhere }, t);
  await other.call.openWallet(opened);
  assert.equal((await other.call.getAttribute({ key: "a" })).value, "1");
  await other.stop();

  const stored = at("stored");
  const service = await start(stored);
  await service.call.createWallet(created);
  await service.stop();
  const sealed = at("sealed");
  await withEngine(stored, (engine) => backupWallets({ folder: stored, copies: sealed, engine }));
  const rows = readFileSync(join(sealed, "w.rows"));
  const changed = Buffer.from(rows);
  changed[changed.length >> 1]! ^= 1;
  const isHashed = (bytes: Buffer) =>
    Buffer.concat([bytes.subarray(0, -32), createHash("sha256").update(bytes.subarray(0, -32)).digest()]);
  /** The copy with other bytes at a place of its head or of its first row, and a hash that fits. */
  const withBytes = (at: number, bytes: readonly number[]) => {
    const other = Buffer.from(rows);
    other.set(bytes, at);
    return isHashed(other);
  };
  const files: readonly (readonly [Buffer, RegExp])[] = [
    [changed, /not what was written/],
    [rows.subarray(0, -1), /not what was written/],
    [Buffer.alloc(0), /no copy of a wallet/],
    [randomBytes(100_000), /no copy of a wallet/],
    [withBytes(40 + 2, [255, 255, 255, 255]), /too long/],
    [withBytes(40 + 2, [0, 63, 255, 255]), /not what was written/],
    [withBytes(40, [255]), /table 255/],
    [withBytes(24, [0, 31, 255, 255]), /that far/],
    [withBytes(rows.length - 33, [7]), /not what was written/],
  ];
  await withEngine(at("last"), async (engine) => {
    for (const [bytes, why] of files) {
      writeFileSync(join(sealed, "w.rows"), bytes);
      const { failures } = await restoreWallets(
        { folder: at("last"), copies: sealed, engine },
        { replaces: false },
      );
      assert.match(failures[0]?.reason ?? "", why);
    }
  });
  assert.ok(!readdirSync(at("last")).some((name) => name.startsWith("w.")));
});

test("the rows of a wallet whose keys were replaced are removed from the store", async (t) => {
  const { at, start, withEngine } = world(t);
  const live = at("live");
  const service = await start(live);
  await service.call.createWallet({ ...created, password: "" });
  const former = readFileSync(join(live, "w.anulo")).subarray(8);
  const rowsOf = (id: Uint8Array) =>
    withEngine(live, async (engine) => {
      const snapshot = await engine.snapshot(id);
      let count = 0;
      for await (const rows of snapshot?.pages ?? []) count += rows.length;
      await snapshot?.close();
      return count;
    });
  assert.ok((await rowsOf(former)) > 1);
  const other = await startTestService({}, t);
  await other.call.createWallet({ filename: "b", password: "", language: "English" });
  const { multisig_info } = await other.call.prepareMultisig({});
  await service.call.prepareMultisig({ enable_multisig_experimental: true });
  await service.call.makeMultisig({ multisig_info: [multisig_info], threshold: 2, password: "" });
  const next = readFileSync(join(live, "w.anulo")).subarray(8);
  assert.notDeepEqual(next, former);
  assert.deepEqual([await rowsOf(former), (await rowsOf(next)) > 1], [1, true]);
  await service.stop();
});
