/** The wallet with which a service starts: its keys are read, or made, before it is opened. */
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { after, type TestContext, test } from "node:test";
import { toHex } from "@anulo/protocol";
import { connectDaemon } from "../src/daemon.ts";
import type { OpenOptions } from "../src/file/open-wallet.ts";
import { pathsOfFile } from "../src/file/wallet-files.ts";
import { unlockFirst } from "../src/first-wallet.ts";
import { createKeys } from "../src/keys/wallet-keys.ts";
import { closeRuntime, createRuntime } from "../src/runtime.ts";
import { folderOf } from "./folder-of.ts";

const runtime = createRuntime({ concurrency: 0 });
after(() => closeRuntime(runtime));

function world(t: TestContext) {
  const file = join(folderOf(t), "w");
  const options: OpenOptions = {
    network: "regtest",
    runtime,
    daemon: connectDaemon({ url: "" }, { trusted: true }),
  };
  const spendkey = toHex(createKeys(runtime.random).spendSecret!);
  const text = JSON.stringify({ version: 1, filename: file, password: "p", spendkey });
  const unlock = (password: string) => unlockFirst({ kind: "file", file, password }, options);
  return {
    file,
    spendkey,
    unlock,
    make: () => unlockFirst({ kind: "json", text }, options),
    ...pathsOfFile(file),
  };
}

test("a described wallet is made before anything else, once, and opened by its password from then on", async (t) => {
  const { file, spendkey, make, unlock, keys, lock } = world(t);
  await assert.rejects(unlock("p"), new RegExp(`file not found "${file}.keys"`));
  const open = await make();
  assert.ok(existsSync(keys) && existsSync(lock));
  const made = await open();
  assert.equal(toHex(made.wallet.signer.keys.spendSecret!), spendkey);
  await made.close();
  await assert.rejects(make(), /file already exists/);
  await assert.rejects(unlock("q"), /^WalletRefusal: invalid password$/);
  const again = await unlock("p");
  assert.ok(!existsSync(lock), "it is not open yet");
  const opened = await again();
  assert.ok(existsSync(lock));
  assert.equal(toHex(opened.wallet.signer.keys.spendSecret!), spendkey);
  await opened.close();
});
