/** Files of a wallet that is being created, where something is in its way. */
import assert from "node:assert/strict";
import {
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { createClient, walletMethods } from "@anulo/rpc";
import { createWalletService } from "../src/create-service.ts";
import { CLOSING_MS } from "./service.ts";

/** Creates a wallet "w" in a folder, at a service of a test network: it writes the wallet's address into a file. */
async function startIn(t: TestContext) {
  const folder = mkdtempSync(join(tmpdir(), "anulo-creating-"));
  const service = await createWalletService({
    listen: [{ host: "127.0.0.1", port: 0 }],
    walletDirectory: folder,
    daemon: { url: "" },
    network: "stagenet",
    refreshPeriod: 0,
    closingMs: CLOSING_MS,
  });
  const call = createClient(walletMethods, service.url);
  t.after(async () => {
    call.close();
    await service.stop();
    rmSync(folder, { recursive: true });
  });
  return { folder, create: () => call.createWallet({ filename: "w", language: "English" }) };
}

/** Files of a folder that this process has open, where the system tells. */
function openFilesIn(folder: string): string[] {
  if (process.platform !== "linux") return [];
  const targets = readdirSync("/proc/self/fd").flatMap((descriptor) => {
    try {
      return [readlinkSync(`/proc/self/fd/${descriptor}`)];
    } catch {
      return [];
    }
  });
  return targets.filter((target) => target.startsWith(folder));
}

const filesIn = (folder: string) => readdirSync(folder).filter((name) => name.startsWith("w"));

test("one of the original's two files is a wallet whose name is taken", async (t) => {
  const { folder, create } = await startIn(t);
  for (const name of ["w", "w.keys"]) {
    writeFileSync(join(folder, name), "somebody's");
    await assert.rejects(create(), /Already exists/, name);
    assert.deepEqual(filesIn(folder), [name]);
    assert.equal(readFileSync(join(folder, name), "utf8"), "somebody's");
    rmSync(join(folder, name));
  }
  await create();
});

test("of a wallet that could not be created whole nothing is left, and its name is free", async (t) => {
  const { folder, create } = await startIn(t);
  // One of its files leads nowhere.
  symlinkSync(join("nowhere", "w"), join(folder, "w.address.txt"));
  await assert.rejects(create());
  assert.deepEqual(filesIn(folder), []);
  assert.deepEqual(openFilesIn(folder), []);
  await create();
  assert.ok(filesIn(folder).includes("w.address.txt"));
});
