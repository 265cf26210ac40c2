/** Wallets as they are created, closed, and left to scan without their spend secret. */
import assert from "node:assert/strict";
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { after, type TestContext, test } from "node:test";
import { setImmediate } from "node:timers/promises";
import { type Logger, unreadLog } from "@anulo/rpc";
import { connectDaemon } from "../src/daemon.ts";
import { setupBackgroundSync, startBackgroundSync } from "../src/file/background-sync.ts";
import { openOnceMore } from "../src/file/open-unlocked.ts";
import { createWallet, type OpenOptions, type OpenWallet } from "../src/file/open-wallet.ts";
import { walletPaths } from "../src/file/wallet-files.ts";
import { createKeys } from "../src/keys/wallet-keys.ts";
import { closeRuntime, createRuntime } from "../src/runtime.ts";
import type { NetworkName } from "../src/state.ts";
import { folderOf } from "./folder-of.ts";

const password = "p";
/** Its jobs run in this thread. */
const runtime = createRuntime({ concurrency: 0 });
after(() => closeRuntime(runtime));

/** A wallet with files, or without. */
async function create(
  t: TestContext,
  {
    hasFiles,
    log,
    network = "regtest",
  }: { readonly hasFiles: boolean; readonly log?: Logger; readonly network?: NetworkName },
) {
  const daemon = connectDaemon({ url: "" }, { trusted: true });
  const options: OpenOptions = { network, runtime, daemon, ...(log !== undefined && { log }) };
  const paths = hasFiles ? walletPaths(folderOf(t), "w") : undefined;
  const keys = createKeys(runtime.random);
  const made = { keys, password, seedLanguage: "English", refreshFromHeight: 0, createdAt: 0n };
  const opened = await createWallet(paths, made, options);
  let isOpen = true;
  const close = async () => {
    if (!isOpen) return;
    isOpen = false;
    await opened.close();
  };
  t.after(close);
  return { opened, options, keys, close };
}

test("a wallet that is closed leaves no key, and no lock", async (t) => {
  const { opened, keys, close } = await create(t, { hasFiles: true });
  const { lock } = opened.paths!;
  assert.ok(existsSync(lock));
  assert.notDeepEqual(opened.cache!.copyKey(), new Uint8Array(32));
  await close();
  assert.deepEqual(opened.cache!.copyKey(), new Uint8Array(32));
  assert.deepEqual([keys.spendSecret, keys.viewSecret], [new Uint8Array(32), new Uint8Array(32)]);
  assert.ok(existsSync(opened.paths!.keys) && !existsSync(lock));
});

/** Counts what closing does with the parts of a wallet; `failing`: which of them can't be written. */
async function watchClosing(t: TestContext, failing: readonly string[] = []) {
  const lines: string[] = [];
  const log = { ...unreadLog().in("wallet"), warn: (event: string) => void lines.push(event) };
  const { opened, close } = await create(t, { hasFiles: true, log });
  const steps: string[] = [];
  const step = (name: string) => async () => {
    await setImmediate();
    steps.push(name);
    if (failing.includes(name)) throw new Error(`no space left for ${name}`);
  };
  const { wallet } = opened;
  const cache = opened.cache!;
  const [closeCache, closeWallet] = [cache.close.bind(cache), wallet.close.bind(wallet)];
  Object.assign(cache, {
    store: (_: unknown, { isAsked }: { isAsked: boolean }) => step(isAsked ? "cache as asked" : "cache")(),
    close: () => Promise.all([step("cache closed")(), closeCache()]),
  });
  Object.assign(wallet, {
    settle: step("settle"),
    close: () => Promise.all([step("wallet closed")(), closeWallet()]),
  });
  opened.background.beside = { update: step("beside"), close: step("beside closed") } as never;
  return { opened, close, steps, lines };
}

test("closing a wallet writes what is beside it, then closes one after the other", async (t) => {
  const { opened, close, steps, lines } = await watchClosing(t);
  await close();
  assert.deepEqual(steps, ["settle", "beside", "beside closed", "cache", "cache closed", "wallet closed"]);
  assert.deepEqual([lines, existsSync(opened.paths!.lock)], [[], false]);
});

test("a wallet that could not be stored writes nothing beside it", async (t) => {
  const { opened, close, steps } = await watchClosing(t);
  opened.wallet.unwritten = { error: new Error("no space left") };
  await close();
  assert.deepEqual(steps, ["settle", "beside closed", "cache closed", "wallet closed"]);
});

test("what can't be written beside a wallet is told, and keeps it from nothing", async (t) => {
  const { opened, close, steps, lines } = await watchClosing(t, ["beside", "cache"]);
  await close();
  assert.deepEqual(steps, ["settle", "beside", "beside closed", "cache", "cache closed", "wallet closed"]);
  assert.equal(lines.length, 2);
  assert.ok(!existsSync(opened.paths!.lock));
});

test("a wallet that can't be opened once more keeps its keys and its lock until it is closed", async (t) => {
  const { opened, options, keys, close } = await create(t, { hasFiles: true });
  const { lock, store } = opened.paths!;
  writeFileSync(store, "damaged");
  await assert.rejects(openOnceMore(opened, options));
  assert.ok(existsSync(lock));
  assert.notDeepEqual(keys.spendSecret, new Uint8Array(32));
  await close().catch(() => undefined);
  assert.ok(!existsSync(lock));
});

test("a wallet that can't be closed gives up its lock", async (t) => {
  const { opened, close } = await watchClosing(t, ["wallet closed"]);
  await assert.rejects(close(), /no space left for wallet closed/);
  assert.ok(!existsSync(opened.paths!.lock));
});

for (const hasFiles of [true, false]) {
  test(`scanning without the spend secret begins once, ${hasFiles ? "with files" : "in memory"}`, async (t) => {
    const { opened, options } = await create(t, { hasFiles });
    const { wallet } = opened;
    const begin = () => startBackgroundSync(opened, options, () => Promise.reject(new Error("replaced")));
    await assert.rejects(begin(), /must setup background sync first/);
    const setup = { type: "reuse-wallet-password", password, backgroundPassword: "" } as const;
    await setupBackgroundSync(opened, setup, options);
    assert.equal(wallet.isBackgroundSyncing, false);
    await begin();
    assert.equal(wallet.isBackgroundSyncing, true);
    const { changes } = wallet;
    const { keysImage } = opened;
    await begin();
    assert.equal(wallet.changes, changes);
    assert.deepEqual(opened.keysImage, keysImage);
    await assert.rejects(setupBackgroundSync(opened, setup, options), /existing background cache/);
  });
}

const ownPassword = { type: "custom-background-password", password, backgroundPassword: "b" } as const;

test("a background wallet has a file with its address where the wallet itself has one", async (t) => {
  for (const [network, isThere] of [
    ["testnet", true],
    ["stagenet", true],
    ["regtest", false],
    ["mainnet", false],
  ] as const) {
    const { opened, options, close } = await create(t, { hasFiles: true, network });
    await setupBackgroundSync(opened, ownPassword, options);
    const [own, beside] = ["", ".background"].map((end) => `${opened.paths!.base}${end}.address.txt`);
    assert.deepEqual([existsSync(own!), existsSync(beside!)], [isThere, isThere], network);
    if (isThere) assert.deepEqual(readFileSync(beside!), readFileSync(own!));
    await close();
  }
});

test("the files of a background wallet are written again only once its wallet has changed", async (t) => {
  const { opened, options } = await create(t, { hasFiles: true });
  const { wallet, background } = opened;
  await setupBackgroundSync(opened, ownPassword, options);
  const beside = background.beside!;
  const { store } = beside.paths;
  const change = () => wallet.commit({ kind: "note", txHash: "5c", note: "" });
  rmSync(store);
  await beside.update(wallet);
  assert.ok(!existsSync(store));
  for (let time = 0; time < 2; time++) {
    await change();
    await beside.update(wallet);
    assert.ok(existsSync(store));
    rmSync(store);
    await beside.update(wallet);
    assert.ok(!existsSync(store));
  }
});

test("a background wallet whose keys can't be read is not opened in place of its wallet", async (t) => {
  for (const [content, why] of [
    [undefined, /file not found .*background\.keys/],
    ["no keys", /Invalid password/],
  ] as const) {
    const { opened, options, close } = await create(t, { hasFiles: true });
    await setupBackgroundSync(opened, ownPassword, options);
    const { keys } = opened.background.beside!.paths;
    rmSync(keys);
    if (content !== undefined) writeFileSync(keys, content);
    let next: unknown = "nothing";
    const replace = async (open: () => Promise<OpenWallet>) => {
      await close();
      next = await open();
    };
    await assert.rejects(startBackgroundSync(opened, options, replace), why);
    assert.equal(next, "nothing");
    assert.ok(!existsSync(opened.paths!.lock));
  }
});

for (const isReplaced of [false, true]) {
  const when = isReplaced ? "once the other is open" : "before the other is open";
  test(`a wallet that is closed for its background wallet has one lock, given back where that fails ${when}`, async (t) => {
    const { opened, options, close } = await create(t, { hasFiles: true });
    await setupBackgroundSync(opened, ownPassword, options);
    const { lock } = opened.paths!;
    let next: OpenWallet | undefined;
    const replace = async (open: () => Promise<OpenWallet>) => {
      await close();
      assert.ok(existsSync(lock), "nobody else gets it in between");
      if (isReplaced) next = await open();
      throw new Error("the service stops");
    };
    await assert.rejects(startBackgroundSync(opened, options, replace), /the service stops/);
    assert.deepEqual([existsSync(lock), next?.wallet.isBackgroundSyncing], [isReplaced, next && true]);
    await next?.close();
    assert.ok(!existsSync(lock));
  });
}
