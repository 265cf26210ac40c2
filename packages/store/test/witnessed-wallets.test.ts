/** Which wallets the folder beside a store knows, and whether another service has opened them since. */
import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import {
  createMemoryEngine,
  type Engine,
  openWalletStore,
  type WalletId,
  type WitnessedWallet,
  witnessedWallet,
  witnessedWallets,
} from "../src/index.ts";
import { removedRow } from "../src/sealed/data-key.ts";
import { collect, temporaryFolder, walletId } from "./harness.ts";
import { storeOf } from "./wallet-suite.ts";

const wrappingKey = Buffer.alloc(32, 1);
const [kept, taken, removed, lost] = [1, 2, 3, 4].map(walletId) as [WalletId, WalletId, WalletId, WalletId];

async function use(engine: Engine, wallet: WalletId, folder: string): Promise<void> {
  const store = storeOf(await openWalletStore({ engine, wallet, tables: [], wrappingKey, folder }));
  await store.close();
}

const numberOf = (wallet: WalletId): number => Buffer.from(wallet).readUInt32BE(12);
const stateOf = ({ wallet, state }: WitnessedWallet) => [wallet.length, numberOf(wallet), state] as const;

test("a folder lists the wallets that it and the store know, and who has opened them last", async () => {
  const { folder, remove } = temporaryFolder();
  const engine = createMemoryEngine();
  const [here, elsewhere] = [join(folder, "here"), join(folder, "elsewhere")];
  mkdirSync(here);
  try {
    for (const wallet of [kept, taken, removed]) await use(engine, wallet, here);
    await use(createMemoryEngine(), lost, here);
    await use(engine, taken, elsewhere);
    const { epoch } = await engine.fence(removed);
    await engine.apply(removed, { epoch, puts: [{ ...removedRow, value: new Uint8Array() }], deletes: [] });
    const name = Buffer.from(kept).toString("hex");
    for (const other of [`${name}.witness.old`, `${name.slice(2)}.witness`, `a${name}.witness`, "notes"])
      writeFileSync(join(here, other), "");
    const found = (await collect(witnessedWallets(engine, here))).map(stateOf).sort((a, b) => a[1] - b[1]);
    assert.deepEqual(found, [
      [16, 1, "here"],
      [16, 2, "elsewhere"],
      [16, 3, "removing"],
    ]);
    assert.deepEqual((await collect(witnessedWallets(engine, elsewhere))).map(stateOf), [[16, 2, "here"]]);
    assert.equal(
      await witnessedWallet(engine, elsewhere, kept),
      undefined,
      "opened with another folder alone",
    );
    assert.equal((await witnessedWallet(engine, here, kept))?.state, "here");
    writeFileSync(join(here, `${name}.witness`), "damaged");
    assert.equal((await witnessedWallet(engine, here, kept))?.state, "elsewhere", "nobody can tell");
  } finally {
    remove();
  }
});
