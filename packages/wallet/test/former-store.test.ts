/** A wallet whose rows an earlier version of the program has written, before they were packed. */
import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { gunzipSync } from "node:zlib";
import { createLog } from "@anulo/rpc";
import { type Engine, openLmdbEngine } from "@anulo/store";
import { backupWallets, restoreWallets } from "../src/index.ts";
import { walletHandlers } from "../src/rpc/handlers.ts";
import { WalletService } from "../src/service.ts";
import { askExact } from "./ask-exact.ts";

const fixture = fileURLToPath(new URL("../../test/fixtures/store-version-1", import.meta.url));

const open = (folder: string): Engine => openLmdbEngine(join(folder, ".anulo-store", "wallets.mdb"));

type Answer = { readonly method: string; readonly params: object; readonly answer: unknown };

const answers = JSON.parse(
  gunzipSync(readFileSync(join(fixture, "answers.json.gz"))).toString("utf8"),
) as Answer[];

/** Opens the wallet, compares all answers, and returns what the service answered. */
async function checkAnswers(folder: string): Promise<string[]> {
  const told: string[] = [];
  const engine = open(folder);
  const service = new WalletService(
    {
      listen: [{ host: "127.0.0.1", port: 0 }],
      walletDirectory: folder,
      daemon: { url: "" },
      network: "regtest",
      refreshPeriod: 0,
      writesOriginalCache: false,
      lookahead: { accounts: 2, addresses: 20 },
      log: createLog({ write: ({ event }) => void told.push(event) }),
    },
    walletHandlers,
    { store: { engine, folder: join(folder, ".anulo-store"), serviceKey: undefined, acceptsOlder: false } },
  );
  await service.start();
  try {
    await askExact(service.url, "open_wallet", { filename: "w", password: "p" });
    for (const { method, params, answer } of answers)
      assert.deepEqual(await askExact(service.url, method, params), answer, method);
    await askExact(service.url, "set_attribute", { key: "later", value: "kept" });
    await askExact(service.url, "close_wallet", {});
  } finally {
    await service.stop();
  }
  return told;
}

test("a copy of an earlier version's store is restored, taken over once with its progress told, and copied again", async (t) => {
  const root = mkdtempSync(join(tmpdir(), "anulo-former-"));
  t.after(() => rmSync(root, { recursive: true, force: true }));
  const place = (name: string): string => {
    const folder = join(root, name);
    mkdirSync(join(folder, ".anulo-store"), { recursive: true });
    return folder;
  };
  const withEngine = async (folder: string, task: (engine: Engine) => Promise<unknown>) => {
    const engine = open(folder);
    await task(engine).finally(() => engine.close());
  };
  const restore = (folder: string, copies: string) =>
    withEngine(folder, async (engine) => {
      const restored = await restoreWallets({ folder, copies, engine }, { only: "w", replaces: false });
      assert.deepEqual(restored, { count: 1, failures: [] });
    });
  const [first, second, newCopies] = [place("first"), place("second"), join(root, "new-copies")];
  await restore(first, fixture);
  const told = await checkAnswers(first);
  assert.ok(told.includes("takes over a wallet's rows of an earlier version"));
  assert.ok(told.includes("a wallet's rows are those of this version"));
  const isOfEarlier = (line: string) => line.includes("earlier version");
  assert.ok(!(await checkAnswers(first)).some(isOfEarlier), "it was taken over already");
  await withEngine(first, async (engine) => {
    const { count, failures } = await backupWallets({ folder: first, copies: newCopies, engine }, "w");
    assert.deepEqual([count, failures], [1, []]);
  });
  await restore(second, newCopies);
  assert.ok(!(await checkAnswers(second)).some(isOfEarlier));
});
