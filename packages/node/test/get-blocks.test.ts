/** What `/get_blocks.bin` and `/get_hashes.bin` hold, at each of their limits, with a made-up chain. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { RowMeter } from "@anulo/rpc";
import { getBlocks, getHashes } from "../src/rpc/block-download.ts";
import type { NodeContext } from "../src/rpc/context.ts";
import { heightOfId, idOf } from "./numbered-ids.ts";

const MIB = 1024 * 1024;
const MAX_BLOCKS = 1000;
const MAX_HASHES = 10_000;

interface Chain {
  readonly length: number;
  /** Weight in bytes of each block. */
  readonly weight?: number;
  /** Transactions in each block, the miner's among them. */
  readonly transactions?: number;
  readonly restricted?: boolean;
}

/** A node with such a chain; `failures` are the addresses of callers who were refused. */
function nodeWith({ length, weight = 1, transactions = 1, restricted = false }: Chain) {
  const failures: string[] = [];
  const read = {
    height: () => length,
    heightOf(id: Uint8Array) {
      const height = heightOfId(id);
      return height >= 0 && height < length ? height : undefined;
    },
    blockExtent: (height: number) => ({
      firstTransactionId: transactions * height,
      transactionCount: transactions,
      weight,
    }),
    blockBlob: (height: number) => Uint8Array.of(height % 256),
    blockInfoColumn: (_: string, from: number, to: number) =>
      Array.from({ length: to - from }, (_, i) => idOf(from + i)),
    prunedTransaction: (id: number) => Uint8Array.of(id),
    prunablePart: (id: number) => Uint8Array.of(255, id),
    // An unknown transaction has no outputs.
    outputIndices: (id: number) => (id === 1 ? undefined : [10 * id, 10 * id + 1]),
  };
  const store = { read, snapshot: () => ({ ...read, close: () => {} }) };
  const context = {
    parts: { now: () => 77, store, state: { view: () => ({ height: length, topId: idOf(length - 1) }) } },
    restricted,
    remoteAddress: "10.0.0.9",
    failingCallers: { failed: (address: string) => void failures.push(address) },
    signal: new AbortController().signal,
    rows: new RowMeter(() => 0),
  } as unknown as NodeContext;
  return { context, failures };
}

/** A list as a handler gives it: an array, or items that are read when they are written. */
type Drawn<T> = readonly T[] | { readonly length: number; at(place: number): T };

const itemsOf = <T>(list: Drawn<T>): T[] =>
  Array.from({ length: list.length }, (_, place) => list.at(place)!);

interface Asked {
  readonly known?: readonly number[];
  readonly start?: number;
  readonly prune?: boolean;
  readonly noMiner?: boolean;
  readonly count?: bigint;
  readonly info?: number;
}

async function answerOf(context: NodeContext, asked: Asked = {}) {
  const { known = [0], start = 0, prune = false, noMiner = false, count = 0n, info = 0 } = asked;
  const request = {
    block_ids: known.map(idOf),
    start_height: start,
    prune,
    no_miner_tx: noMiner,
    max_block_count: count,
    requested_info: info,
    pool_info_since: 0n,
  };
  const answer = (await getBlocks(request, context)) as unknown as {
    readonly status?: string;
    readonly blocks: Drawn<{ block: Uint8Array; pruned: boolean; txs: { blob: Uint8Array }[] }>;
    readonly output_indices: Drawn<{ indices: { indices: readonly number[] }[] }>;
    readonly start_height: number;
    readonly current_height: number;
    readonly daemon_time: number;
  };
  return { ...answer, blocks: itemsOf(answer.blocks), output_indices: itemsOf(answer.output_indices) };
}

const countOf = async (chain: Chain, asked?: Asked) => {
  const { blocks, output_indices } = await answerOf(nodeWith(chain).context, asked);
  assert.equal(output_indices.length, blocks.length);
  return blocks.length;
};

test("blocks come with all their transactions and the indices of their outputs, in order", async () => {
  const { context } = nodeWith({ length: 3, transactions: 3 });
  const { blocks, output_indices, start_height, current_height, daemon_time } = await answerOf(context);
  assert.deepEqual([start_height, current_height, daemon_time], [0, 3, 77]);
  assert.deepEqual(
    blocks.map(({ block, txs }) => [block[0], ...txs.map(({ blob }) => [...blob])]),
    [
      [0, [1, 255, 1], [2, 255, 2]],
      [1, [4, 255, 4], [5, 255, 5]],
      [2, [7, 255, 7], [8, 255, 8]],
    ],
  );
  const indices = output_indices.map((each) => each.indices.map(({ indices: some }) => some));
  assert.deepEqual(indices, [
    [[0, 1], [], [20, 21]],
    [
      [30, 31],
      [40, 41],
      [50, 51],
    ],
    [
      [60, 61],
      [70, 71],
      [80, 81],
    ],
  ]);
});

test("pruned transactions are sent without what is prunable, and no indices of miners where none are wanted", async () => {
  const { context } = nodeWith({ length: 1, transactions: 2 });
  // The newest block is ours: it is not one the caller is told of by its id.
  const { blocks, output_indices } = await answerOf(context, { known: [5, 0], prune: true, noMiner: true });
  assert.deepEqual(blocks, [
    {
      block: Uint8Array.of(0),
      pruned: true,
      txs: [{ blob: Uint8Array.of(1), prunable_hash: new Uint8Array(32) }],
    },
  ]);
  assert.deepEqual(output_indices, [{ indices: [{ indices: [] }, { indices: [] }] }]);
});

test("an answer begins where both chains part or at the height named, and ends at a thousand blocks", async () => {
  const { context, failures } = nodeWith({ length: 1500 });
  const range = async (asked: Asked) => {
    const { blocks, start_height, current_height, status } = await answerOf(context, asked);
    return [start_height, blocks.length, current_height, status];
  };
  assert.deepEqual(await range({}), [0, MAX_BLOCKS, 1500, undefined]);
  assert.deepEqual(await range({ known: [1600, 700, 0] }), [700, 800, 1500, undefined]);
  assert.deepEqual(await range({ known: [600, 0] }), [600, 900, 1500, undefined]);
  assert.deepEqual(await range({ known: [], start: 1499 }), [1499, 1, 1500, undefined]);
  assert.deepEqual(await range({ known: [], start: 1 }), [1, MAX_BLOCKS, 1500, undefined]);
  assert.deepEqual(await range({ count: 1n }), [0, 1, 1500, undefined]);
  assert.deepEqual(await range({ count: 1000n }), [0, MAX_BLOCKS, 1500, undefined]);
  assert.deepEqual(await range({ count: 1001n }), [0, MAX_BLOCKS, 1500, undefined]);
  assert.deepEqual(await range({ count: 2n ** 63n }), [0, MAX_BLOCKS, 1500, undefined]);
  // Who has the newest block gets none.
  assert.deepEqual(await range({ known: [1499, 0] }), [0, 0, 1500, undefined]);
  assert.deepEqual(failures, []);
  assert.deepEqual(await range({ known: [], start: 1500 }), [0, 0, 0, "Failed"]);
  assert.deepEqual(await range({ known: [700, 3] }), [0, 0, 0, "Failed"]);
  assert.deepEqual(failures, ["10.0.0.9", "10.0.0.9"]);
});

test("three blocks are sent however large, and more up to a size, of which pruned ones take half", async () => {
  const large = (weight: number, more: Partial<Chain> = {}) => ({ length: 400, weight, ...more });
  assert.equal(await countOf(large(200 * MIB)), 3);
  assert.equal(await countOf(large(25 * MIB)), 4);
  assert.equal(await countOf(large(25 * MIB + 1)), 4);
  assert.equal(await countOf(large(25 * MIB - 1)), 5);
  assert.equal(await countOf(large(25 * MIB), { prune: true }), 8);
  assert.equal(await countOf(large(25 * MIB - 1), { prune: true }), 8);
  assert.equal(await countOf(large(25 * MIB - 2), { prune: true }), 9);
  assert.equal(await countOf(large(4 * MIB, { restricted: true })), 4);
  assert.equal(await countOf(large(4 * MIB - 1, { restricted: true })), 5);
});

test("an answer has no block behind 20,000 transactions, miners' not counted", async () => {
  assert.equal(await countOf({ length: 30, transactions: 5001 }), 4);
  assert.equal(await countOf({ length: 30, transactions: 5000 }), 5);
  assert.equal(await countOf({ length: 30, transactions: 20_001 }), 3);
});

test("information that does not exist is refused", async () => {
  const { context } = nodeWith({ length: 3 });
  const { status, blocks, daemon_time } = await answerOf(context, { info: 3 });
  assert.deepEqual([status, blocks, daemon_time], ["Failed, wrong requested info", [], 77]);
});

test("hashes begin with the newest block that both have, ten thousand at most", async () => {
  const { context, failures } = nodeWith({ length: MAX_HASHES + 2 });
  const range = async (...known: number[]) => {
    const request = { block_ids: known.map(idOf), start_height: 9 };
    const { m_block_ids: ids, start_height, current_height } = await getHashes(request, context);
    return [start_height, ids.length, current_height];
  };
  assert.deepEqual(await range(0), [0, MAX_HASHES, MAX_HASHES + 2]);
  assert.deepEqual(await range(2, 0), [2, MAX_HASHES, MAX_HASHES + 2]);
  assert.deepEqual(await range(90_000, 3, 0), [3, MAX_HASHES - 1, MAX_HASHES + 2]);
  assert.deepEqual(failures, []);
  assert.deepEqual(await range(5), [9, 0, 0]);
  assert.deepEqual(failures, ["10.0.0.9"]);
});
