/** What a wallet's witness asks of the disk: a loss of power may leave an older record, never none. */
import assert from "node:assert/strict";
import fs, { type PathLike } from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { join } from "node:path";
import { test } from "node:test";
import { setImmediate } from "node:timers/promises";
import { createMemoryEngine, openWalletStore, type Table } from "../src/index.ts";
import { bytes, temporaryFolder, walletId } from "./harness.ts";

const notes: Table = { number: 1, orderedBytes: 4 };
const wallet = walletId(1);
const wrappingKey = Buffer.alloc(32, 1);

const isWitness = (path: PathLike) => String(path).endsWith(".witness");

/** What `work` has asked of the disk by the time it is over, of witnesses and of `folder`; each sync takes a while. */
async function syncsOf(folder: string, work: () => Promise<unknown>): Promise<string[]> {
  const done: string[] = [];
  const { open } = fs.promises;
  const { openSync, fsyncSync } = fs;
  let folderFile = -1;
  Object.assign(fs.promises, {
    open: async (...args: Parameters<typeof open>) => {
      const file = await open(...args);
      if (!isWitness(args[0])) return file;
      const { datasync } = file;
      return Object.assign(file, {
        datasync: async () => {
          await datasync.call(file);
          for (let i = 0; i < 5000; i++) await setImmediate();
          done.push("the record");
        },
      });
    },
  });
  Object.assign(fs, {
    openSync: (...args: Parameters<typeof openSync>) => {
      const file = openSync(...args);
      if (args[0] === folder) folderFile = file;
      return file;
    },
    fsyncSync: (file: number) => {
      fsyncSync(file);
      if (file === folderFile) done.push("its name");
    },
  });
  syncBuiltinESMExports();
  try {
    await work();
    return [...done];
  } finally {
    Object.assign(fs.promises, { open });
    Object.assign(fs, { openSync, fsyncSync });
    syncBuiltinESMExports();
  }
}

test("whoever opens or closes a wallet has its witness on disk, and no change waits for that", async () => {
  const { folder, remove } = temporaryFolder();
  const engine = createMemoryEngine();
  const open = async () => {
    const opened = await openWalletStore({ engine, wallet, tables: [notes], wrappingKey, folder });
    assert.ok(opened.kind !== "rolledBack");
    return opened.store;
  };
  const byOpening = async () => {
    let store: Awaited<ReturnType<typeof open>> | undefined;
    const syncs = await syncsOf(folder, async () => {
      store = await open();
    });
    return { syncs, store: store! };
  };
  try {
    const first = await byOpening();
    assert.deepEqual(first.syncs, ["the record", "its name"]);
    const put = { table: notes, key: bytes("key1"), value: bytes("value") };
    assert.deepEqual(await syncsOf(folder, () => first.store.apply({ puts: [put] })), []);
    assert.deepEqual(await syncsOf(folder, () => first.store.close()), ["the record"]);
    const second = await byOpening();
    assert.deepEqual(second.syncs, ["the record"], "its name is on disk already");
    await second.store.close();
  } finally {
    remove();
  }
});

test("a former owner that closes late leaves the record of the later one", async () => {
  const { folder, remove } = temporaryFolder();
  const engine = createMemoryEngine();
  const open = () => openWalletStore({ engine, wallet, tables: [notes], wrappingKey, folder });
  try {
    const former = await open();
    const later = await open();
    assert.ok(former.kind === "new" && later.kind === "continued");
    await former.store.close();
    const { epoch } = later.store.mark;
    await later.store.close();
    await engine.close();
    // An engine without the wallet is older than any record.
    const lost = await openWalletStore({
      engine: createMemoryEngine(),
      wallet,
      tables: [notes],
      wrappingKey,
      folder,
    });
    assert.ok(lost.kind === "rolledBack");
    assert.equal(lost.witnessed.epoch, epoch);
  } finally {
    remove();
  }
});

test("a record that an earlier version wrote is understood, and one that is cut short or damaged is none", async () => {
  const { folder, remove } = temporaryFolder();
  const path = join(folder, `${Buffer.from(wallet).toString("hex")}.witness`);
  // Epoch 9, change 5, and their CRC-32.
  const record = Buffer.from("0000000000000009000000000000000530720981", "hex");
  const openWith = async (file: Uint8Array) => {
    fs.writeFileSync(path, file);
    const engine = createMemoryEngine();
    return await openWalletStore({ engine, wallet, tables: [notes], wrappingKey, folder });
  };
  try {
    const found = await openWith(record);
    assert.ok(found.kind === "rolledBack");
    assert.deepEqual(found.witnessed, { epoch: 9, sequence: 5 });
    const accepted = await found.accept();
    assert.equal(accepted.mark.epoch, 10);
    await accepted.close();
    assert.equal(fs.statSync(path).size, record.length, "an earlier version understands it, too");
    const damaged = Buffer.from(record);
    damaged[15] = 4;
    for (const file of [damaged, record.subarray(0, 19), Buffer.concat([record, Buffer.alloc(1)])]) {
      const opened = await openWith(file);
      assert.ok(opened.kind === "new");
      await opened.store.close();
    }
  } finally {
    remove();
  }
});
