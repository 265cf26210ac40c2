import assert from "node:assert/strict";
import fs, { mkdtempSync, rmSync } from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, test } from "node:test";
import type { ChainStore } from "../src/chain-store.ts";
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

/** How many flushes there were after each of these writes, where one is due after so many blocks or bytes. */
async function flushesAfter(
  every: SyncMode["every"],
  writes: readonly ((store: ChainStore) => void)[],
): Promise<number[]> {
  let marks = 0;
  const { writeSync } = fs;
  const store = await openStore({
    path,
    network: "regtest",
    syncMode: { mode: "fastest", isAwaited: true, every },
  });
  Object.assign(fs, {
    writeSync: (...args: Parameters<typeof writeSync>) => {
      marks++;
      return writeSync(...args);
    },
  });
  syncBuiltinESMExports();
  try {
    const flushed: number[] = [];
    for (const write of writes) {
      write(store);
      await store.settled();
      flushed.push(marks);
    }
    return flushed;
  } finally {
    Object.assign(fs, { writeSync });
    syncBuiltinESMExports();
    await store.close();
  }
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
