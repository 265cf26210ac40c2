/** In which runs the blocks of a source are imported, and what is known of each run. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { SourceBlock } from "@anulo/storage";
import { type Import, type Run, runsFrom } from "../src/exchange/runs.ts";
import { recordedChain } from "./recorded-chains.ts";

const chain = recordedChain();
const start = { height: 1, transactionsBefore: 1 };

/** Parts of a chain of which no block is known beforehand. */
const parts = {
  confirmedBlocks: { idAt: () => undefined, isCovered: () => false },
  store: { read: { pruningSeed: () => 0 } },
};

const sourceBlock = (height: number): SourceBlock => ({
  height,
  blob: chain[height - 1]!.blob,
  transactions: chain[height - 1]!.transactions.map((blob) => ({ blob })),
  weight: undefined,
  done: height / 1000,
  place: `byte ${height}`,
});

interface Scene extends Partial<Pick<Import, "last" | "signal">> {
  readonly blocks: Iterable<SourceBlock | undefined>;
}

/** The runs of a source with these blocks, and what it failed with. */
async function runsOf({ blocks, ...more }: Scene) {
  const runs: Run[] = [];
  const source = { first: 0, pruningSeed: 0, blocks: () => blocks[Symbol.iterator](), close() {} };
  let failure: unknown;
  try {
    for await (const run of runsFrom({ parts, source, path: "some.raw", ...more } as never, start))
      runs.push(run);
  } catch (error) {
    failure = error;
  }
  return { runs, failure, sizes: runs.map((run) => run.blocks.length) };
}

const first = (count: number) => Array.from({ length: count }, (_, i) => sourceBlock(1 + i));

test("a run has a hundred blocks at most, with their places and how far the source is read", async () => {
  const { runs, sizes, failure } = await runsOf({ blocks: first(230) });
  assert.deepEqual([sizes, failure], [[100, 100, 30], undefined]);
  assert.deepEqual(
    runs.map(({ end, done }) => [end, done]),
    [
      [101, 0.1],
      [201, 0.2],
      [231, 0.23],
    ],
  );
  const [, second] = runs;
  const { incoming, txs, size } = second!.blocks[0]!;
  assert.deepEqual(
    [incoming.key, second!.places.get(incoming.key)],
    [chain[100]!.hash, "block 101, byte 101"],
  );
  assert.equal(second!.places.size, 100);
  assert.deepEqual(txs, chain[100]!.transactions);
  assert.equal(
    size,
    txs.reduce((sum, tx) => sum + (tx as Uint8Array).length, chain[100]!.blob.length),
  );
  assert.deepEqual((await runsOf({ blocks: first(100) })).sizes, [100]);
  assert.deepEqual((await runsOf({ blocks: [] })).sizes, []);
});

test("a run ends with the block with which it has two mebibytes", async () => {
  const MIB = 1024 * 1024;
  const own = chain[0]!.blob.length;
  const ofBytes = (height: number, bytes: number) => ({
    ...sourceBlock(height),
    transactions: [{ blob: new Uint8Array(bytes - chain[height - 1]!.blob.length) }],
  });
  assert.ok(own < MIB);
  const sizesOf = async (...bytes: number[]) =>
    (await runsOf({ blocks: bytes.map((each, i) => ofBytes(1 + i, each)) })).sizes;
  assert.deepEqual(await sizesOf(MIB, MIB, MIB), [2, 1]);
  assert.deepEqual(await sizesOf(MIB, MIB - 1, MIB), [3]);
});

test("what comes after the last block that is wanted, or after the end was asked for, is not read", async () => {
  assert.deepEqual((await runsOf({ blocks: first(10), last: 7 })).sizes, [7]);
  const controller = new AbortController();
  const blocks = function* () {
    yield* first(3);
    controller.abort();
    yield sourceBlock(4);
    assert.fail("nobody wants more");
  };
  const { sizes, failure } = await runsOf({ blocks: blocks(), signal: controller.signal });
  assert.deepEqual([sizes, failure], [[3], undefined]);
  assert.deepEqual((await runsOf({ blocks: [undefined, ...first(2), undefined] })).sizes, [2]);
});

test("whole blocks before the damage are a run, and then the damage is told", async () => {
  const damaged = function* (count: number) {
    yield* first(count);
    throw new Error("the file is damaged");
  };
  for (const [count, expected] of [
    [3, [3]],
    [0, []],
    [100, [100]],
  ] as const) {
    const { sizes, failure } = await runsOf({ blocks: damaged(count) });
    assert.deepEqual(sizes, expected);
    assert.match(String(failure), /the file is damaged/);
  }
});
