/** A second that takes over without the last commits, under a service that has them. */
import assert from "node:assert/strict";
import { test } from "node:test";
import {
  createMemoryEngine,
  type Engine,
  type OpenedWalletStore,
  openWalletStore,
  RolledBack,
  type Table,
} from "../src/index.ts";
import { bytes, temporaryFolder, text, walletId } from "./harness.ts";
import { storeOf } from "./wallet-suite.ts";

const notes: Table = { number: 1 };
const wallet = walletId(1);
const wrappingKey = Buffer.alloc(32, 1);
const put = (value: string) => ({ puts: [{ table: notes, key: bytes("k"), value: bytes(value) }] });

/** A database with a standby, which lags from the moment it is told to, and may take over. */
function withSecond() {
  const [primary, second] = [createMemoryEngine(), createMemoryEngine()];
  let [isBehind, isReplaced] = [false, false];
  const both = async <T>(write: (engine: Engine) => Promise<T>): Promise<T> => {
    if (isReplaced) return await write(second);
    if (!isBehind) await write(second);
    return await write(primary);
  };
  const present = () => (isReplaced ? second : primary);
  const engine: Engine = {
    ...primary,
    fence: (id, above) => both((on) => on.fence(id, above)),
    apply: (id, change) => both((on) => on.apply(id, change)),
    markOf: (id) => present().markOf(id),
    read: (id, row) => present().read(id, row),
    page: (id, table, range) => present().page(id, table, range),
  };
  return {
    engine,
    lag: () => {
      isBehind = true;
    },
    promote: () => {
      isReplaced = true;
    },
  };
}

async function scene(
  run: (open: () => Promise<OpenedWalletStore>, database: ReturnType<typeof withSecond>) => Promise<void>,
) {
  const { folder, remove } = temporaryFolder();
  try {
    const database = withSecond();
    const options = { engine: database.engine, wallet, tables: [notes], wrappingKey, folder };
    await run(() => openWalletStore(options), database);
  } finally {
    remove();
  }
}

for (const lost of [1, 2])
  test(`an open wallet writes nothing over a database that has lost its last ${lost} changes`, () =>
    scene(async (open, { engine, lag, promote }) => {
      const store = storeOf(await open());
      await store.apply(put("kept"));
      lag();
      for (let i = 0; i < lost; i++) await store.apply(put(`lost ${i}`));
      promote();
      const before = await engine.markOf(wallet);
      await assert.rejects(store.apply(put("after")), RolledBack);
      await assert.rejects(store.apply(put("again")), RolledBack);
      assert.deepEqual(await engine.markOf(wallet), before);
      await store.close();
      const opened = await open();
      assert.ok(opened.kind === "rolledBack");
      assert.equal(opened.witnessed.sequence - opened.found.sequence, lost);
      const accepted = await opened.accept();
      assert.equal(text(await accepted.read(notes, bytes("k"))), "kept");
      await accepted.apply(put("accepted"));
      await accepted.close();
      await storeOf(await open()).close();
    }));

test("an open wallet writes nothing over a database that has lost its opening", () =>
  scene(async (open, { lag, promote }) => {
    await storeOf(await open()).close();
    lag();
    const store = storeOf(await open());
    promote();
    await assert.rejects(store.apply(put("after")), RolledBack);
    await store.close();
    assert.equal((await open()).kind, "rolledBack");
  }));
