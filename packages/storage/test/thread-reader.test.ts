/** A reader of another thread, here beside the writer: it sees each commit, and nothing of it is left once it is closed. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { openStore } from "../src/index.ts";
import { openReader } from "../src/thread-reader.ts";
import { sampleBlock } from "./sample-blocks.ts";

test("after a refresh everything is seen that was committed before, whatever was read in this turn", async () => {
  const store = await openStore({ network: "regtest" });
  const reader = openReader(store.path);
  for (let height = 0; height < 5; height++) {
    assert.equal(reader.read.height(), height);
    store.write((writer) => writer.appendBlock(sampleBlock(height)));
    assert.equal(reader.read.height(), height, "its transaction goes on");
    reader.refresh();
    assert.equal(reader.read.height(), height + 1);
    assert.deepEqual(reader.read.blockBlob(height), store.read.blockBlob(height));
  }
  await reader.close();
  await store.close();
});

test("a snapshot of a reader stays as it was, and rows that it reads are counted", async () => {
  const store = await openStore({ network: "regtest" });
  store.write((writer) => writer.appendBlock(sampleBlock(0)));
  const reader = openReader(store.path);
  const snapshot = reader.snapshot();
  store.write((writer) => writer.appendBlock(sampleBlock(1)));
  reader.refresh();
  assert.deepEqual([snapshot.height(), reader.read.height()], [1, 2]);
  const before = reader.rowsRead();
  assert.notEqual(reader.read.blockInfo(1), undefined);
  assert.equal(reader.rowsRead() - before, 1);
  snapshot.close();
  await reader.close();
  await store.close();
});
