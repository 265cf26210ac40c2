/** Wallets that other services may get at any moment: what a lock protects, and what a lost one prevents. */
import assert from "node:assert/strict";
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { setImmediate } from "node:timers/promises";
import { createClient, type Logger, silent, walletMethods } from "@anulo/rpc";
import { createMemoryEngine, type Engine, OutcomeUnknown, RolledBack, StoreUnavailable } from "@anulo/store";
import { connectDaemon } from "../src/daemon.ts";
import type { EventSink } from "../src/events/follower.ts";
import { changeKeys } from "../src/file/change-wallet.ts";
import type { LedgerStore } from "../src/file/open-rows.ts";
import { KeysReplaced, openUnlocked } from "../src/file/open-unlocked.ts";
import { createWallet, type OpenOptions } from "../src/file/open-wallet.ts";
import { unlockKeys } from "../src/file/unlock-keys.ts";
import {
  type WalletPaths,
  walletPaths,
  writeKeysAndCache,
  writeKeysImage,
} from "../src/file/wallet-files.ts";
import type { WalletLocks } from "../src/file/wallet-lock.ts";
import { createKeys } from "../src/keys/wallet-keys.ts";
import { WalletRefusal } from "../src/refusal.ts";
import { walletHandlers } from "../src/rpc/handlers.ts";
import { createRuntime } from "../src/runtime.ts";
import { WalletService } from "../src/service.ts";
import { folderOf } from "./folder-of.ts";
import { startTestService } from "./service.ts";

/** Locks of a service that shares wallets, whose lock is taken and released under the test's eyes. */
class CountedLocks implements WalletLocks {
  taken = 0;
  released = 0;
  async take(): Promise<() => Promise<void>> {
    this.taken += 1;
    return async () => {
      this.released += 1;
    };
  }
  async confirm(): Promise<void> {}
  fenceOf(): undefined {}
}

function world(t: TestContext) {
  const folder = folderOf(t);
  const engine = createMemoryEngine();
  const locks = new CountedLocks();
  const store: LedgerStore = {
    engine,
    folder: join(folder, "store"),
    serviceKey: new Uint8Array(32).fill(1),
    acceptsOlder: false,
    shared: { locks, engineFor: () => engine },
  };
  const runtime = createRuntime();
  const options: OpenOptions = {
    network: "regtest",
    runtime,
    store,
    get daemon() {
      return connectDaemon({ url: "" }, { trusted: true });
    },
    writesOriginalCache: false,
  };
  const paths = walletPaths(folder, "w");
  const made = {
    keys: createKeys(runtime.random),
    password: "",
    seedLanguage: "English",
    refreshFromHeight: 0,
    createdAt: 0n,
  };
  return { folder, locks, options, paths, made, runtime };
}

test("a wallet whose keys are replaced stays under the same lock while it is closed and opened again", async (t) => {
  const { locks, options, paths, made, runtime } = world(t);
  const opened = await createWallet(paths, made, options);
  const change = {
    password: "",
    keys: createKeys(runtime.random),
    settings: [],
    close: () => opened.close(),
  };
  const { spendPublic } = change.keys;
  const next = await changeKeys(opened, change, options);
  assert.deepEqual([locks.taken, locks.released], [1, 0]);
  assert.deepEqual(next.wallet.keys.spendPublic, spendPublic);
  await next.close();
  assert.deepEqual([locks.taken, locks.released], [1, 1]);
});

test("where that fails the lock is released once, and by nobody else's closing", async (t) => {
  const { locks, options, paths, made, runtime } = world(t);
  const opened = await createWallet(paths, made, options);
  const close = async () => {
    await opened.close();
    throw new Error("the folder is gone");
  };
  const change = { password: "", keys: createKeys(runtime.random), settings: [], close };
  await assert.rejects(changeKeys(opened, change, options), /folder is gone/);
  await opened.close();
  assert.deepEqual([locks.taken, locks.released], [1, 1]);
});

test("keys that were replaced between reading them and taking the lock are not used", async (t) => {
  const { locks, options, paths, made, runtime } = world(t);
  await (await createWallet(paths, made, options)).close();
  const keys = await unlockKeys(paths, "", options);
  const other = walletPaths(folderOf(t), "other");
  await (await createWallet(other, { ...made, keys: createKeys(runtime.random) }, options)).close();
  writeFileSync(paths.keys, readFileSync(other.keys));
  await assert.rejects(openUnlocked(keys, options), KeysReplaced);
  assert.equal(locks.taken, locks.released);
});

/** The fence of a service that loses the wallet right after it was notified that it has it. */
const lostFence = (folder: string) => ({
  folder,
  confirm: async () => rmSync(folder, { recursive: true }),
});

test("a service that lost the wallet right before the rename replaces neither keys nor cache", async (t) => {
  const folder = folderOf(t);
  const paths: WalletPaths = walletPaths(folder, "w");
  const [keys, cache, other] = ["keys", "cache", "other"].map((text) => Buffer.from(text));
  await writeKeysAndCache(paths, { keys: keys!, cache: cache! });
  const fence = lostFence(join(folder, "next"));
  await assert.rejects(writeKeysImage(paths, other!, fence), { code: -503 });
  await assert.rejects(writeKeysAndCache(paths, { keys: other!, cache: other! }, fence), { code: -503 });
  const kept = { ...fence, confirm: async () => undefined };
  assert.deepEqual([readFileSync(paths.keys), readFileSync(paths.base)], [keys, cache]);
  await writeKeysAndCache(paths, { keys: other!, cache: other! }, kept);
  assert.deepEqual([readFileSync(paths.keys), readFileSync(paths.base)], [other, other]);
  assert.ok(!existsSync(`${paths.base}.new`));
});

test("a password that another service has removed is not asked for any more", async (t) => {
  const folder = folderOf(t);
  const first = await startTestService({ folder }, t);
  await first.call.createWallet({ filename: "w", password: "p", language: "English" });
  await first.call.closeWallet({});
  const named = async () => {
    const body = JSON.stringify({ jsonrpc: "2.0", id: 0, method: "get_balance" });
    const response = await fetch(`${first.service.url}/wallets/w/json_rpc`, { method: "POST", body });
    const { result, error } = (await response.json()) as { result?: object; error?: { code: number } };
    return error?.code ?? result;
  };
  assert.equal(await named(), -13);
  const second = await startTestService({ folder }, t);
  await second.call.openWallet({ filename: "w", password: "p" });
  await second.call.changeWalletPassword({ old_password: "p", new_password: "" });
  await second.stop();
  assert.equal(typeof (await named()), "object");
});

test("a wallet whose change failed for a moment goes on from what was stored, by itself", async (t) => {
  const behind = new RolledBack({ epoch: 1, sequence: 2 }, { epoch: 1, sequence: 1 });
  for (const failure of [new OutcomeUnknown("lost"), new StoreUnavailable("full"), behind]) {
    const why = failure === behind ? /older copy .*--accept-older-store/ : /by itself/;
    const folder = folderOf(t);
    const memory = createMemoryEngine();
    let isFailing = false;
    let now = 0;
    const engine: Engine = {
      ...memory,
      apply: async (wallet, change) => {
        if (isFailing) throw failure;
        return await memory.apply(wallet, change);
      },
    };
    const store = { engine, folder: join(folder, "store"), serviceKey: undefined, acceptsOlder: false };
    const service = new WalletService(
      {
        listen: [{ host: "127.0.0.1", port: 0 }],
        walletDirectory: folder,
        daemon: { url: "" },
        network: "regtest",
        refreshPeriod: 0,
        clock: () => now,
      },
      walletHandlers,
      { store },
    );
    await service.start();
    const call = createClient(walletMethods, service.url);
    try {
      await call.createWallet({ filename: "w", password: "p", language: "English" });
      await call.setAttribute({ key: "a", value: "stored" });
      const spendKey = await call.queryKey({ key_type: "spend_key" });
      isFailing = true;
      await assert.rejects(call.setAttribute({ key: "a", value: "lost" }), why);
      await service.openBroken();
      await assert.rejects(call.setAttribute({ key: "b", value: "lost" }), why);
      assert.ok((await call.getAddress({ account_index: 0 })).address, "it can be read meanwhile");
      isFailing = false;
      // Its own timer may be at an attempt that began before.
      const isOpenAgain = async () => {
        now += 60_000;
        await service.openBroken();
        return (await call.getAttribute({ key: "a" })).value === "stored";
      };
      let attempts = 1;
      while (!(await isOpenAgain())) assert.ok(attempts++ < 1000, "it stays as it was");
      await call.setAttribute({ key: "b", value: "stored" });
      assert.deepEqual(await call.queryKey({ key_type: "spend_key" }), spendKey, "it can spend as before");
      await call.changeWalletPassword({ old_password: "p", new_password: "q" });
      await call.closeWallet({});
      await call.openWallet({ filename: "w", password: "q" });
      assert.equal((await call.getAttribute({ key: "b" })).value, "stored");
    } finally {
      call.close();
      await service.stop();
    }
  }
});

test("of events that another process has to tell only details are logged, of others that can't be kept a warning", async (t) => {
  const elsewhere = new WalletRefusal("UNOWNED", "Another process has the log by now");
  for (const [error, level] of [
    [elsewhere, "debug"],
    [new Error("no space left"), "warn"],
  ] as const) {
    const { options, paths, made } = world(t);
    const lines: unknown[] = [];
    const noteAt = (name: string) => (event: string, fields?: object) => lines.push([name, event, fields]);
    const log: Logger = { ...silent, warn: noteAt("warn"), debug: noteAt("debug"), in: () => silent };
    const events: EventSink = {
      cursorOf: async () => undefined,
      append: async () => {
        throw error;
      },
    };
    const opened = await createWallet(paths, made, { ...options, log, events });
    while (lines.length === 0) await setImmediate();
    await opened.close();
    const fields = level === "warn" ? { file: "w", error } : { file: "w" };
    const event = level === "warn" ? "events can't be kept" : "events are left to the wallet's next owner";
    assert.deepEqual(lines, [[level, event, fields]]);
  }
});
