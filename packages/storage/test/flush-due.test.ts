import assert from "node:assert/strict";
import fs, { mkdtempSync, rmSync } from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, test } from "node:test";
import type { ChainStore } from "../src/chain-store.ts";
import { WriteFailed } from "../src/damage.ts";
import { openStore } from "../src/open-store.ts";
import type { SyncMode } from "../src/sync-mode.ts";
import { bytesOf, sampleBlock } from "./sample-blocks.ts";
import { waitingTransaction } from "./waiting-transaction.ts";

let folder = "";
let path = "";
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "anulo-flush-"));
  path = join(folder, "chain.mdb");
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

interface Watched {
  readonly store: ChainStore;
  /** How many flushes there were so far. */
  marks(): number;
  /** Makes flushes fail as this says; none by default. */
  failWith(error: Error | undefined): void;
}

/** Runs `work` with a store whose flushes are counted by their marks. */
async function watching<T>(
  syncMode: SyncMode,
  work: (watched: Watched) => Promise<T>,
  onFault?: (fault: Error) => void,
): Promise<T> {
  let marks = 0;
  let failure: Error | undefined;
  const { writeSync } = fs;
  const store = await openStore({ path, network: "regtest", syncMode, onFault });
  Object.assign(fs, {
    writeSync: (...args: Parameters<typeof writeSync>) => {
      if (failure !== undefined) throw failure;
      marks++;
      return writeSync(...args);
    },
  });
  syncBuiltinESMExports();
  try {
    const failWith = (error: Error | undefined) => {
      failure = error;
    };
    return await work({ store, marks: () => marks, failWith });
  } finally {
    Object.assign(fs, { writeSync });
    syncBuiltinESMExports();
    await store.close();
  }
}

/** How many flushes there were after each of these writes, where one is due after so many blocks or bytes. */
async function flushesAfter(
  every: SyncMode["every"],
  writes: readonly ((store: ChainStore) => void)[],
  mode: SyncMode["mode"] = "fastest",
): Promise<number[]> {
  return await watching({ mode, isAwaited: true, every }, async ({ store, marks }) => {
    const flushed: number[] = [];
    for (const write of writes) {
      write(store);
      await store.settled();
      flushed.push(marks());
    }
    return flushed;
  });
}

function appendBlocks(store: ChainStore, count: number): void {
  const height = store.read.height();
  store.write((writer) => {
    for (let i = 0; i < count; i++) writer.appendBlock(sampleBlock(height + i));
  });
}

const nextBlock = (store: ChainStore) => appendBlocks(store, 1);

test("a flush is due after as many blocks as set, each time, and not one earlier", async () => {
  const nineBlocks = Array.from({ length: 9 }, () => nextBlock);
  assert.deepEqual(await flushesAfter({ unit: "blocks", count: 3 }, nineBlocks), [0, 0, 1, 1, 1, 2, 2, 2, 3]);
});

test("a flush is due after as many bytes as set, of blocks and of waiting transactions", async () => {
  // 432 of a sample block, 500 of each of its three transactions, and the bytes of these.
  const bytesOfBlock = 432 + 3 * 500 + 7 + (9 + 32) + (5 + 32);
  const addWaiting = (store: ChainStore) =>
    store.write((writer) =>
      writer.putPoolTransaction(bytesOf("waiting"), waitingTransaction(2 * bytesOfBlock - 1)),
    );
  const addTwo = (store: ChainStore) => appendBlocks(store, 2);
  const writes = [nextBlock, addTwo, nextBlock, addWaiting, nextBlock, addWaiting, addWaiting];
  const every = { unit: "bytes", count: 3 * bytesOfBlock } as const;
  assert.deepEqual(await flushesAfter(every, writes), [0, 1, 1, 1, 2, 2, 3]);
});

const never = { unit: "blocks", count: 1e9 } as const;
/** A change without any bytes of its own. */
const nothing = (store: ChainStore) => store.write((writer) => writer.removePoolTransaction(bytesOf("none")));

test("in safe mode each write is flushed before it is settled", async () => {
  assert.deepEqual(await flushesAfter(never, [nothing, nextBlock, nothing], "safe"), [1, 2, 3]);
});

test("who does not wait is told at once, though a flush is due", async () => {
  const mode = { mode: "fastest", isAwaited: false, every: { unit: "blocks", count: 1 } } as const;
  await watching(mode, async ({ store, marks }) => {
    nextBlock(store);
    await store.settled();
    assert.equal(marks(), 0);
    await store.flush();
    assert.equal(marks(), 1);
    await store.flush();
    assert.equal(marks(), 1, "with nothing to flush there is no flush");
  });
});

test("in fast mode a write is flushed a second after the first that was not", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  await watching({ mode: "fast", isAwaited: true, every: never }, async ({ store, marks }) => {
    const after = async (milliseconds: number) => {
      t.mock.timers.tick(milliseconds);
      await store.settled();
      return marks();
    };
    nothing(store);
    assert.equal(await after(999), 0);
    nothing(store);
    assert.equal(await after(1), 1);
    assert.equal(await after(5000), 1);
    nothing(store);
    assert.equal(await after(500), 1);
    await store.flush();
    assert.equal(marks(), 2);
    nothing(store);
    assert.equal(await after(999), 2, "the second begins with the first write that is not flushed");
    assert.equal(await after(1), 3);
  });
});

test("in fastest mode no time brings a flush, nor the file's growth", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  await watching({ mode: "fastest", isAwaited: true, every: never }, async ({ store, marks }) => {
    for (let i = 0; i < 101; i++) nothing(store);
    t.mock.timers.tick(10_000);
    await store.settled();
    assert.equal(marks(), 0);
  });
});

test("in fast mode a flush comes as soon as the file may have grown by more than 16 MB", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const manyTimes = (store: ChainStore) => {
    for (let i = 0; i < 100; i++) nothing(store);
  };
  const put = (bytes: number) => (store: ChainStore) =>
    store.write((writer) => writer.putPoolTransaction(bytesOf("long"), waitingTransaction(bytes)));
  assert.deepEqual(await flushesAfter(never, [manyTimes, nothing, manyTimes, nothing], "fast"), [0, 1, 1, 2]);
  assert.deepEqual(await flushesAfter(never, [put(7_920_000), nothing, put(7_920_001)], "fast"), [0, 1, 2]);
});

test("who asks during a flush shares the next one", async () => {
  await watching({ mode: "fastest", isAwaited: false, every: never }, async ({ store, marks }) => {
    nothing(store);
    const first = store.flush();
    assert.equal(store.flush(), first);
    nothing(store);
    const [second, third] = [store.flush(), store.flush()];
    assert.equal(second, third);
    assert.notEqual(first, second);
    await Promise.all([first, second]);
    assert.equal(marks(), 2);
  });
});

test("a flush that fails is reported, and made up for by the next, which needs no new write", async () => {
  const faults: Error[] = [];
  const mode = { mode: "fastest", isAwaited: false, every: never } as const;
  await watching(
    mode,
    async ({ store, marks, failWith }) => {
      nothing(store);
      failWith(Object.assign(new Error("ENOSPC"), { errno: -28 }));
      await assert.rejects(store.flush(), (error) => {
        assert.deepEqual(faults, [error]);
        return error instanceof WriteFailed && /could not be flushed: the disk is full/.test(error.message);
      });
      failWith(undefined);
      await store.flush();
      assert.equal(marks(), 1);
      nothing(store);
      failWith(Object.assign(new Error("EIO"), { errno: -5 }));
      const failing = store.flush();
      nothing(store);
      const following = store.flush();
      await assert.rejects(failing, /input or output error/);
      failWith(undefined);
      await following;
      assert.equal(marks(), 2);
      assert.equal(faults.length, 2);
    },
    (fault) => void faults.push(fault),
  );
});
