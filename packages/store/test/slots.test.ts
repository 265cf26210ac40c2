/** What becomes of secret rows where the file with their keys cannot be written, or the engine refuses their change. */
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import fs from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { join } from "node:path";
import { test } from "node:test";
import {
  createMemoryEngine,
  type Engine,
  OutcomeUnknown,
  openWalletStore,
  StoreUnavailable,
  type Table,
} from "../src/index.ts";
import { type KeySlot, KeySlots } from "../src/sealed/key-slots.ts";
import { bytes, temporaryFolder, text, walletId } from "./harness.ts";
import { storeOf } from "./wallet-suite.ts";

const secrets: Table = { number: 1, isSecret: true };
const wallet = walletId(1);
const wrappingKey = randomBytes(32);
const SLOT_BYTES = 64;

/** A store in memory with its folder, and the slots of its folder that hold a key. */
function start() {
  const { folder, remove } = temporaryFolder();
  const memory = createMemoryEngine();
  const path = join(folder, `${Buffer.from(wallet).toString("hex")}.slots`);
  const open = async (engine: Engine = memory) =>
    storeOf(await openWalletStore({ engine, wallet, tables: [secrets], wrappingKey, folder }));
  const taken = () => {
    const file = fs.readFileSync(path);
    const slots = Array.from({ length: Math.ceil(file.length / SLOT_BYTES) }, (_, i) => i * SLOT_BYTES);
    return slots.filter((at) => file.subarray(at, at + SLOT_BYTES).some((byte) => byte !== 0)).length;
  };
  return { memory, open, taken, remove };
}

const put = (key: string, value = key) => ({
  puts: [{ table: secrets, key: bytes(key), value: bytes(value) }],
});

/** Runs `work` while files with keys that are opened in it are written by `write`, if that is not undefined. */
async function withSlotWrites<T>(
  writeOf: () => ((slot: Uint8Array) => { bytesWritten: number }) | undefined,
  work: () => Promise<T>,
): Promise<T> {
  const { open } = fs.promises;
  Object.assign(fs.promises, {
    open: async (...args: Parameters<typeof open>) => {
      const file = await open(...args);
      if (!String(args[0]).endsWith(".slots")) return file;
      const write = file.write as (...parts: unknown[]) => Promise<{ bytesWritten: number }>;
      return Object.assign(file, {
        write: async (slot: Uint8Array, ...place: unknown[]) =>
          writeOf()?.(slot) ?? (await write.call(file, slot, ...place)),
      });
    },
  });
  syncBuiltinESMExports();
  try {
    return await work();
  } finally {
    Object.assign(fs.promises, { open });
    syncBuiltinESMExports();
  }
}

test("where a key cannot be destroyed the outcome is unknown and the store ends; the next opening destroys it", async () => {
  const { open, taken, remove } = start();
  const failed = () => {
    throw Object.assign(new Error("the disk is gone"), { code: "EIO" });
  };
  for (const change of [{ deletes: [{ table: secrets, key: bytes("nonce") }] }, put("nonce", "another")]) {
    let isBroken = false;
    const isErased = (slot: Uint8Array) => slot.every((byte) => byte === 0);
    await withSlotWrites(
      () => (isBroken ? (slot) => (isErased(slot) ? failed() : { bytesWritten: slot.length }) : undefined),
      async () => {
        const store = await open();
        await store.apply(put("nonce"));
        isBroken = true;
        await assert.rejects(store.apply(change), (error: Error) => {
          assert.ok(error instanceof OutcomeUnknown);
          assert.match(String(error.cause), /the disk is gone/);
          return true;
        });
        await assert.rejects(store.read(secrets, bytes("nonce")), OutcomeUnknown);
        await assert.rejects(store.apply(put("later")), OutcomeUnknown);
        isBroken = false;
        assert.equal(taken(), 1);
        await store.close();
        await (await open()).close();
        assert.equal(taken(), 0, "no row needs it");
      },
    );
  }
  remove();
});

test("a key that is written in part makes no row", async () => {
  const { open, remove } = start();
  let isFull = false;
  await withSlotWrites(
    () => (isFull ? (slot) => ({ bytesWritten: slot.length - 1 }) : undefined),
    async () => {
      const store = await open();
      await store.apply(put("first"));
      const { mark } = store;
      isFull = true;
      await assert.rejects(store.apply(put("second")), /written in part/);
      isFull = false;
      assert.deepEqual(store.mark, mark);
      assert.equal(await store.read(secrets, bytes("second")), undefined);
      await store.apply(put("second"));
      assert.equal(text(await store.read(secrets, bytes("second"))), "second");
      await store.close();
    },
  );
  remove();
});

test("the keys of a change are destroyed where it was refused, and kept where nobody knows", async () => {
  const { memory, open, taken, remove } = start();
  let fault: Error | undefined;
  const store = await open({
    ...memory,
    apply: async (owner, change) => {
      if (fault instanceof StoreUnavailable) throw fault;
      const sequence = await memory.apply(owner, change);
      if (fault !== undefined) throw fault;
      return sequence;
    },
  });
  await store.apply(put("first"));
  fault = new StoreUnavailable("away");
  await assert.rejects(store.apply(put("second")), StoreUnavailable);
  assert.equal(taken(), 1);
  fault = new OutcomeUnknown("the connection broke");
  await assert.rejects(store.apply(put("third")), OutcomeUnknown);
  assert.equal(taken(), 2);
  await store.close();
  const again = await open();
  assert.equal(text(await again.read(secrets, bytes("third"))), "third");
  await again.close();
  remove();
});

test("more secrets than one read of the file brings are all found again, and destroyed one by one", async () => {
  const { open, taken, remove } = start();
  const keys = Array.from({ length: 1030 }, (_, i) => `${i}`);
  const store = await open();
  await store.apply({ puts: keys.flatMap((key) => put(key).puts) });
  await store.close();
  assert.equal(taken(), keys.length);
  const again = await open();
  for (const key of ["0", "1023", "1024", "1029"])
    assert.equal(text(await again.read(secrets, bytes(key))), key);
  await again.apply({ deletes: [{ table: secrets, key: bytes("1024") }] });
  assert.equal(taken(), keys.length - 1);
  await again.apply(put("new"));
  assert.equal(taken(), keys.length);
  assert.equal(text(await again.read(secrets, bytes("new"))), "new");
  await again.close();
  remove();
});

test("a file of keys that can't be opened or read is an error, and is not left open", async () => {
  const { folder, remove } = temporaryFolder();
  await assert.rejects(KeySlots.open(folder), { code: "EISDIR" });
  const path = join(folder, "1.slots");
  fs.writeFileSync(path, randomBytes(SLOT_BYTES));
  const { open } = fs.promises;
  const closed: string[] = [];
  Object.assign(fs.promises, {
    open: async (...args: Parameters<typeof open>) => {
      const file = await open(...args);
      const close = file.close.bind(file);
      return Object.assign(file, {
        stat: () => Promise.reject(new Error("the disk is gone")),
        close: () => close().then(() => void closed.push(String(args[0]))),
      });
    },
  });
  syncBuiltinESMExports();
  try {
    await assert.rejects(KeySlots.open(path), /the disk is gone/);
    assert.deepEqual(closed, [path]);
  } finally {
    Object.assign(fs.promises, { open });
    syncBuiltinESMExports();
    remove();
  }
});

test("a slot gives its key under the id it was taken with alone, and what was read of it is wiped", async () => {
  const { folder, remove } = temporaryFolder();
  const { open } = fs.promises;
  const buffers: Uint8Array[] = [];
  Object.assign(fs.promises, {
    open: async (...args: Parameters<typeof open>) => {
      const file = await open(...args);
      const read = file.read as (buffer: Uint8Array, ...place: unknown[]) => Promise<unknown>;
      return Object.assign(file, {
        read: (buffer: Uint8Array, ...place: unknown[]) => {
          buffers.push(buffer);
          return read.call(file, buffer, ...place);
        },
      });
    },
  });
  syncBuiltinESMExports();
  try {
    const slots = await KeySlots.open(join(folder, "1.slots"));
    const [{ reference, rowKey }] = (await slots.take(1)) as [KeySlot];
    const other = { index: reference.index, id: randomBytes(reference.id.length) };
    assert.deepEqual(await slots.read(reference), rowKey);
    assert.equal(await slots.read(other), undefined);
    await slots.destroy([other]);
    assert.deepEqual(await slots.read(reference), rowKey);
    await slots.destroy([reference]);
    assert.deepEqual([await slots.read(reference), slots.isEmpty], [undefined, true]);
    await slots.close();
    assert.ok(buffers.length >= 5);
    for (const buffer of buffers) assert.ok(buffer.every((byte) => byte === 0));
  } finally {
    Object.assign(fs.promises, { open });
    syncBuiltinESMExports();
    remove();
  }
});

// Closes: rows of a wallet whose keys are in a file that has no name after a loss of power.
test("the folder has the name of a new file of keys on disk before any key is taken", {
  skip: process.platform === "win32",
}, async () => {
  const { folder, remove } = temporaryFolder();
  const { openSync, fsyncSync } = fs;
  const opened = new Map<number, string>();
  const synced: unknown[] = [];
  const path = join(folder, "1.slots");
  let isBroken = true;
  Object.assign(fs, {
    openSync: (...args: Parameters<typeof openSync>) => {
      const file = openSync(...args);
      opened.set(file, String(args[0]));
      return file;
    },
    fsyncSync: (file: number) => {
      if (isBroken) throw new Error("the disk is gone");
      synced.push([opened.get(file), fs.existsSync(path)]);
      fsyncSync(file);
    },
  });
  syncBuiltinESMExports();
  try {
    const slots = await KeySlots.open(path);
    await assert.rejects(slots.take(1), /the disk is gone/);
    isBroken = false;
    fs.rmSync(path);
    await slots.take(1);
    assert.deepEqual(synced, [[folder, true]]);
    await slots.take(1);
    assert.equal(synced.length, 1);
    assert.equal(fs.statSync(path).mode & 0o777, 0o600);
    await slots.close();
  } finally {
    Object.assign(fs, { openSync, fsyncSync });
    syncBuiltinESMExports();
    remove();
  }
});

test("a store that is closed while a secret is read says that it is closed, not that it is damaged", async () => {
  const { open, remove } = start();
  let store!: Awaited<ReturnType<typeof open>>;
  let isClosing = false;
  const { open: openFile } = fs.promises;
  Object.assign(fs.promises, {
    open: async (...args: Parameters<typeof openFile>) => {
      const file = await openFile(...args);
      const { read } = file;
      return Object.assign(file, {
        read: async (...parts: Parameters<typeof read>) => {
          const found = await read.apply(file, parts);
          if (isClosing) await store.close();
          return found;
        },
      });
    },
  });
  syncBuiltinESMExports();
  try {
    store = await open();
    await store.apply(put("nonce"));
    isClosing = true;
    await assert.rejects(store.read(secrets, bytes("nonce")), (error: Error) => {
      assert.ok(error instanceof StoreUnavailable, String(error));
      return true;
    });
  } finally {
    Object.assign(fs.promises, { open: openFile });
    syncBuiltinESMExports();
    remove();
  }
});
