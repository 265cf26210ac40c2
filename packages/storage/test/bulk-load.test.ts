import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, test } from "node:test";
import type { NewOutput } from "../src/block-changes.ts";
import { type BulkLoadOptions, bulkLoad } from "../src/bulk-load.ts";
import { DamagedDatabase } from "../src/damage.ts";
import { openEnvironment } from "../src/environment.ts";
import { openStore } from "../src/open-store.ts";
import { sampleBlock } from "./sample-blocks.ts";

let folder = "";
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "anulo-bulk-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const network = "regtest";
/** The amounts of later blocks are smaller, so that rows by amount do not come in their order. */
const blocks = Array.from({ length: 250 }, (_, height) => {
  const block = sampleBlock(height);
  const outputOf = (output: NewOutput) =>
    output.amount > 7n ? { ...output, amount: 1000n - output.amount } : output;
  const transactions = block.transactions.map((tx) => ({ ...tx, outputs: tx.outputs.map(outputOf) }));
  return { ...block, transactions };
});
const transactions = blocks.flatMap((block) => block.transactions);

const sorted = {
  heights: blocks.map(({ hash }, height) => [hash, height] as const).sort(([a], [b]) => Buffer.compare(a, b)),
  transactionIds: transactions
    .map(({ hash }, id) => [hash, id] as const)
    .sort(([a], [b]) => Buffer.compare(a, b)),
  keyImages: transactions.flatMap(({ keyImages }) => keyImages).sort(Buffer.compare),
};

async function dump(path: string): Promise<Record<string, unknown[]>> {
  const { root, tables } = openEnvironment(path, { readOnly: true });
  const rows = Object.entries(tables).map(
    ([name, table]) => [name, Array.from(table.entries() as Iterable<unknown>)] as const,
  );
  await root.close();
  return Object.fromEntries(rows);
}

const load = (path: string, more: Partial<BulkLoadOptions> = {}) =>
  bulkLoad({ path, network, blocks, sorted, ...more });

test("a database loaded in bulk has the rows of one written block by block, and goes on from there", async () => {
  const [bulk, usual] = ["new/bulk.mdb", "usual.mdb"].map((name) => join(folder, name));
  await load(bulk!);
  const stores = [await openStore({ path: bulk!, network }), await openStore({ path: usual!, network })];
  stores[1]!.write((writer) => {
    for (const block of blocks) writer.appendBlock(block);
  });
  const next = sampleBlock(blocks.length);
  for (const store of stores) {
    assert.equal(store.read.height(), blocks.length);
    store.write((writer) => writer.appendBlock(next));
    await store.close();
  }
  assert.deepEqual(await dump(bulk!), await dump(usual!));
});

test("rows that do not ascend are refused, and a file that is not empty is left alone", async () => {
  const path = join(folder, "chain.mdb");
  const keyImages = [...sorted.keyImages].reverse();
  await assert.rejects(load(path, { sorted: { ...sorted, keyImages } }), DamagedDatabase);
  const before = await dump(path);
  await assert.rejects(load(path), RangeError);
  assert.deepEqual(await dump(path), before);
});

test("progress is told after each portion of a thousand blocks, then of rows", async () => {
  const told: [number, number][] = [];
  const onProgress = ({ blocks: done, sortedRows }: { blocks: number; sortedRows: number }) =>
    void told.push([done, sortedRows]);
  const many = Array.from({ length: 1001 }, (_, height) => ({
    ...sampleBlock(0),
    hash: sampleBlock(height).hash,
    transactions: [],
  }));
  const rows = {
    heights: many.map(({ hash }, height) => [hash, height] as const).sort(([a], [b]) => Buffer.compare(a, b)),
    transactionIds: [],
    keyImages: [sampleBlock(0).hash],
  };
  const path = join(folder, "chain.mdb");
  await load(path, { blocks: many, sorted: rows, onProgress });
  assert.deepEqual(told, [
    [1000, 0],
    [1001, 0],
    [1001, 1001],
    [1001, 1001],
    [1001, 1002],
  ]);
  const store = await openStore({ path, network });
  assert.equal(store.read.height(), 1001);
  assert.deepEqual([...store.read.blockInfoColumn("longTermWeight", 0, 2000)], Array(1001).fill(300));
  await store.close();
});
