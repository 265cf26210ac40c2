import assert from "node:assert/strict";
import { test } from "node:test";
import { RowMeter } from "@anulo/rpc";
import { getBlocks, getBlocksByHeight, getHashes } from "../src/rpc/block-download.ts";
import type { NodeContext } from "../src/rpc/context.ts";

const MIB = 1024 * 1024;
const HEIGHT = 2000;

/** Lengths of a made-up block: of its own bytes, and of the two parts of each transaction beside the miner's. */
interface Lengths {
  readonly block: number;
  readonly transactions: readonly (readonly [pruned: number, prunable: number | undefined])[];
}

/** A chain in which only these blocks have bytes. */
function contextOf(blocks: Readonly<Record<number, Lengths>>, { restricted = false } = {}): NodeContext {
  const memory = new Uint8Array(64 * MIB);
  const none: Lengths = { block: 0, transactions: [] };
  const at = (height: number) => blocks[height] ?? none;
  // The miner's transaction of a block has the number of ten times its height.
  const partsOf = (id: number) => at(Math.floor(id / 10)).transactions[(id % 10) - 1]!;
  const read = {
    blockExtent: (height: number) => ({
      firstTransactionId: 10 * height,
      transactionCount: 1 + at(height).transactions.length,
    }),
    blockBlob: (height: number) => memory.subarray(0, at(height).block),
    prunedTransaction: (id: number) => memory.subarray(0, partsOf(id)[0]),
    prunablePart: (id: number) => {
      const length = partsOf(id)[1];
      return length === undefined ? undefined : memory.subarray(0, length);
    },
  };
  const store = { read, snapshot: () => ({ ...read, close: () => {} }) };
  return {
    parts: { store, state: { view: () => ({ height: HEIGHT }) } },
    restricted,
    signal: new AbortController().signal,
    rows: new RowMeter(() => 0),
  } as unknown as NodeContext;
}

/** The status, and the lengths of each block and of its transactions. */
async function download(context: NodeContext, heights: readonly number[]) {
  const { status, blocks } = await getBlocksByHeight({ heights }, context);
  return [status, blocks.map(({ block, txs }) => [block.length, ...txs.map(({ blob }) => blob.length)])];
}

const TOO_MANY = ["Too many blocks requested", []];

test("blocks come whole and in the order in which their heights are named, up to one that is none", async () => {
  const context = contextOf({
    1: { block: 5, transactions: [[3, 4]] },
    7: {
      block: 6,
      transactions: [
        [1, 1],
        [10, 20],
      ],
    },
  });
  assert.deepEqual(await download(context, []), ["OK", []]);
  const [first, second] = [
    [5, 7],
    [6, 2, 30],
  ];
  assert.deepEqual(await download(context, [7, 1, 7, HEIGHT - 1]), ["OK", [second, first, second, [0]]]);
  assert.deepEqual(await download(context, [7, HEIGHT, 1]), [
    `Error retrieving block at height ${HEIGHT}`,
    [second],
  ]);
});

test("more bytes than one answer may have are refused, on a restricted port the earlier", async () => {
  const half = { block: MIB, transactions: [[MIB, 6 * MIB]] } as const;
  const blocks = {
    1: half,
    2: half,
    3: { block: 1, transactions: [] },
    4: { block: 42 * MIB, transactions: [] },
  };
  const strangers = contextOf(blocks, { restricted: true });
  assert.equal((await download(strangers, [1, 2]))[0], "OK");
  assert.deepEqual(await download(strangers, [1, 2, 3]), TOO_MANY);
  const owner = contextOf(blocks);
  assert.equal((await download(owner, [1, 4, 2, 4]))[0], "OK");
  assert.deepEqual(await download(owner, [1, 4, 2, 4, 3]), TOO_MANY);
});

test("a restricted port takes a thousand heights, and none of a block that was pruned is sent", async () => {
  const strangers = contextOf({}, { restricted: true });
  const heights = Array.from({ length: 1001 }, (_, height) => height);
  assert.equal((await download(strangers, heights.slice(1)))[0], "OK");
  assert.deepEqual(await download(strangers, heights), ["Too many blocks requested in restricted mode", []]);
  assert.equal((await download(contextOf({}), heights))[0], "OK");
  const pruned = contextOf({ 1: { block: 5, transactions: [[3, undefined]] } });
  assert.deepEqual(await download(pruned, [0, 1]), ["Failed", []]);
});

// Closes: a request with 32,000 ids of no block, looked up one after the other while everybody else waited.
test("ids of blocks are looked up with pauses, however many a caller names", async () => {
  const genesis = new Uint8Array(32);
  const block_ids = [...Array.from({ length: 100 }, (_, i) => new Uint8Array(32).fill(i + 1)), genesis];
  let pauses = 0;
  const pause = async () => void pauses++;
  const heightOf = (id: Uint8Array) => (id === genesis ? 0 : undefined);
  const none = { ...contextOf({}), failingCallers: { failed: () => assert.fail("it was of our chain") } };
  const context = {
    ...none,
    parts: {
      now: () => 0,
      state: { view: () => ({ height: 1, topId: genesis }) },
      store: {
        read: { heightOf, height: () => 1, blockInfoColumn: () => [genesis], blockExtent: () => ({}) },
      },
    },
    rows: { during: (work: (options: object) => unknown) => work({ sliceMs: 0, pause }) },
  } as unknown as NodeContext;
  const hashes = await getHashes({ block_ids, start_height: 0 }, context);
  assert.deepEqual(hashes, { m_block_ids: [genesis], start_height: 0, current_height: 1 });
  assert.ok(pauses >= 100, `${pauses}`);
  const rest = { prune: false, no_miner_tx: false, max_block_count: 0n, pool_info_since: 0n };
  const blocks = await getBlocks({ block_ids, start_height: 0, requested_info: 0, ...rest }, context);
  assert.ok("start_height" in blocks && blocks.start_height === 0);
  assert.ok(pauses >= 200, `${pauses}`);
});
