/** Wallets as they are created, closed, and left to scan without their spend secret. */
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { after, type TestContext, test } from "node:test";
import { connectDaemon } from "../src/daemon.ts";
import { setupBackgroundSync, startBackgroundSync } from "../src/file/background-sync.ts";
import { createWallet, type OpenOptions } from "../src/file/open-wallet.ts";
import { walletPaths } from "../src/file/wallet-files.ts";
import { createKeys } from "../src/keys/wallet-keys.ts";
import { closeRuntime, createRuntime } from "../src/runtime.ts";
import { folderOf } from "./folder-of.ts";

const password = "p";
/** Its jobs run in this thread. */
const runtime = createRuntime({ concurrency: 0 });
after(() => closeRuntime(runtime));

/** A wallet with files, or without. */
async function create(t: TestContext, { hasFiles }: { readonly hasFiles: boolean }) {
  const daemon = connectDaemon({ url: "" }, { trusted: true });
  const options: OpenOptions = { network: "regtest", runtime, daemon };
  const paths = hasFiles ? walletPaths(folderOf(t), "w") : undefined;
  const keys = createKeys(runtime.random);
  const made = { keys, password, seedLanguage: "English", refreshFromHeight: 0, createdAt: 0n };
  const opened = await createWallet(paths, made, options);
  let isOpen = true;
  const close = async () => {
    if (isOpen) await opened.close();
    isOpen = false;
  };
  t.after(close);
  return { opened, options, keys, close };
}

test("a wallet that is closed leaves no key, and no lock", async (t) => {
  const { opened, keys, close } = await create(t, { hasFiles: true });
  const lock = `${opened.paths!.keys}.lock`;
  assert.notDeepEqual(opened.cache!.copyKey(), new Uint8Array(32));
  await close();
  assert.deepEqual(opened.cache!.copyKey(), new Uint8Array(32));
  assert.deepEqual([keys.spendSecret, keys.viewSecret], [new Uint8Array(32), new Uint8Array(32)]);
  assert.ok(existsSync(opened.paths!.keys) && !existsSync(lock));
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
