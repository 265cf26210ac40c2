import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { test } from "node:test";
import type { ChainReader } from "@anulo/storage";
import { createRingCtCounts } from "../src/rpc/ringct-counts.ts";

/** Blocks of one branch: its name makes their ids and counts. */
function branch(name: string, length: number) {
  return Array.from({ length }, (_, i) => {
    const hash = new Uint8Array(createHash("sha256").update(`${name} ${i}`).digest());
    return { hash, outputs: hash[0]! };
  });
}

type Blocks = ReturnType<typeof branch>;

/** A reader of these blocks that notes how many rows are read in columns. */
function readerOf(blocks: Blocks) {
  const read = { rows: 0 };
  const totals: number[] = [];
  for (const { outputs } of blocks) totals.push((totals.at(-1) ?? 0) + outputs);
  const reader = {
    height: () => blocks.length,
    blockInfo: (height: number) =>
      height < blocks.length
        ? { hash: blocks[height]!.hash, cumulativeRctOutputs: totals[height]! }
        : undefined,
    *blockInfoColumn(_: string, from: number, to: number) {
      for (let height = from; height < Math.min(to, blocks.length); height++) {
        read.rows++;
        yield totals[height]!;
      }
    },
  } as unknown as ChainReader;
  return { read, reader };
}

const countsOf = (blocks: Blocks) => blocks.map(({ outputs }) => outputs);

// Closes the class of responses that walk the whole chain for each request.
test("outputs of each block are counted once, and again only where the chain has changed", async () => {
  const counts = createRingCtCounts();
  const expect = async (blocks: Blocks, mostRows: number) => {
    const { read, reader } = readerOf(blocks);
    assert.deepEqual([...(await counts.of(reader))], countsOf(blocks));
    assert.ok(read.rows <= mostRows, `${read.rows} rows read, at most ${mostRows} wanted`);
  };
  const main = branch("main", 5000);
  await expect(main.slice(0, 3), 3);
  await expect(main.slice(0, 4321), 4318);
  await expect(main.slice(0, 4321), 0);
  await expect(main.slice(0, 4322), 1);
  await expect(main, 678);
  // A reorganisation of 100 blocks, then one that shortens the chain, then back to the first branch.
  const other = [...main.slice(0, 4900), ...branch("other", 200)];
  await expect(other, 200 + 512);
  await expect(other, 0);
  await expect(main.slice(0, 4899), 512);
  await expect(main, 101);
  await expect([...main.slice(0, 10), ...branch("far", 90)], 100);
  await expect(branch("another chain", 700), 700);
  await expect([], 0);
  await expect(main, 5000);
});

test("counts that were given stay as they were while the chain goes on and back", async () => {
  const counts = createRingCtCounts();
  const main = branch("main", 600);
  const given = await counts.of(readerOf(main).reader);
  const before = [...given];
  const others = [branch("other", 600), main.slice(0, 20), branch("third", 9000), main];
  const results = await Promise.all(others.map((blocks) => counts.of(readerOf(blocks).reader)));
  assert.deepEqual(
    results.map((result) => [...result]),
    others.map(countsOf),
  );
  assert.deepEqual([...given], before);
});

test("a reader that fails leaves the counts as they were", async () => {
  const counts = createRingCtCounts();
  const main = branch("main", 2000);
  await counts.of(readerOf(main.slice(0, 700)).reader);
  const { reader } = readerOf(main);
  const failing = {
    ...reader,
    *blockInfoColumn(field: "weight", from: number, to: number) {
      yield* reader.blockInfoColumn(field, from, Math.min(to, 1100));
      if (to > 1100) throw new Error("damaged");
    },
  } as ChainReader;
  await assert.rejects(counts.of(failing), /damaged/);
  assert.deepEqual([...(await counts.of(reader))], countsOf(main));
});
