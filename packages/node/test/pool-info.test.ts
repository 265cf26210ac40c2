import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { NULL_HASH, readTransaction, toHex, transactionHash, writePrunedTransaction } from "@anulo/protocol";
import { type Drawn, RowMeter } from "@anulo/rpc";
import type { PoolTransaction } from "@anulo/storage";
import type { OpenChain } from "../src/chain/open-chain.ts";
import { admit } from "../src/pool/admit.ts";
import { dropFromPool, release } from "../src/pool/maintain.ts";
import { transact } from "../src/pool/parts.ts";
import { getBlocks } from "../src/rpc/block-download.ts";
import { poolHandlers } from "../src/rpc/pool.ts";
import { poolInfo } from "../src/rpc/pool-info.ts";
import { chainIn, loadBlocks, now } from "./chain-fixture.ts";
import { goldenState } from "./recorded-chains.ts";

const { blocks, pool: waiting, top } = goldenState();
const keys = waiting.map((blob) => toHex(transactionHash(readTransaction(blob))));
const clock = { time: now() };
let chain: OpenChain;
before(async () => {
  chain = await chainIn(undefined, { now: () => clock.time });
  await loadBlocks(chain.parts, blocks);
});
after(() => chain.close());

type Entry = { tx_hash: Uint8Array; tx_blob: Uint8Array; double_spend_seen: boolean };

function ask(request: Partial<Parameters<typeof getBlocks>[0]>, restricted = false) {
  let failures = 0;
  const failingCallers = { failed: () => failures++ };
  const caller = { restricted, failingCallers, remoteAddress: "", rows: new RowMeter(() => 0) };
  const context = { parts: chain.parts, ...caller } as never;
  const params = {
    ...{ requested_info: 0, block_ids: [], start_height: 1, prune: false, no_miner_tx: false },
    ...{ pool_info_since: 0n, max_block_count: 0n, ...request },
  };
  const answer = getBlocks(params, context) as Partial<Record<string, unknown>> & { daemon_time: number };
  const entries = answer.added_pool_txs as Drawn<Entry> | undefined;
  const added = entries && Array.from({ length: entries.length }, (_, at) => entries.at(at));
  const hashes = (name: string) => (answer[name] as Uint8Array[] | undefined)?.map(toHex);
  return {
    answer,
    failures,
    count: (answer.blocks as { length: number }).length,
    extent: answer.pool_info_extent,
    entries: added,
    added: added?.map(({ tx_hash }) => toHex(tx_hash)),
    remaining: hashes("remaining_added_pool_txids"),
    removed: hashes("removed_pool_txids"),
  };
}

const since = (moment: number, restricted = false) =>
  ask({ requested_info: 2, pool_info_since: BigInt(moment) }, restricted);

test("blocks alone, both, the pool alone, and nothing else can be asked for", async () => {
  await admit(chain.parts, { blob: waiting[0]!, doNotRelay: false, phase: "fluff" });
  const alone = ask({});
  assert.deepEqual([alone.count, alone.extent, alone.added], [blocks.length, undefined, undefined]);
  assert.equal(alone.answer.daemon_time, clock.time);
  const both = ask({ requested_info: 1 });
  assert.deepEqual([both.count, both.extent, both.added], [blocks.length, 2, [keys[0]]]);
  const pool = ask({ requested_info: 2 });
  assert.deepEqual([pool.count, pool.extent, pool.added], [0, 2, [keys[0]]]);
  assert.deepEqual([pool.remaining, pool.removed, pool.answer.current_height], [[], [], 0]);
  const none = ask({ requested_info: 3 });
  assert.deepEqual([none.answer.status, none.count], ["Failed, wrong requested info", 0]);
  assert.equal(none.added, undefined);
});

test("the pool is told to who has all blocks, and to who asks for one that is not there", () => {
  const block_ids = [Buffer.from(top, "hex")];
  const known = ask({ requested_info: 1, start_height: 0, block_ids });
  assert.deepEqual([known.count, known.added, known.answer.current_height], [0, [keys[0]], 108]);
  const high = ask({ requested_info: 1, start_height: 108 });
  assert.deepEqual([high.answer.status, high.failures, high.added], ["Failed", 1, [keys[0]]]);
});

test("as many blocks come as are asked for, 1,000 at most", () => {
  for (const [wanted, given] of [
    [1n, 1],
    [2n, 2],
    [50n, 50],
    [2n ** 64n - 1n, blocks.length],
  ] as const)
    assert.equal(ask({ max_block_count: wanted }).count, given);
});

test("transactions are told pruned where that is asked for", () => {
  const [whole] = ask({ requested_info: 2 }).entries!;
  assert.deepEqual(Buffer.from(whole!.tx_blob), Buffer.from(waiting[0]!));
  const [pruned] = ask({ requested_info: 2, prune: true }).entries!;
  assert.deepEqual(pruned!.tx_blob, writePrunedTransaction(readTransaction(waiting[0]!)));
});

test("news are what came and what left, and what everybody may know of now", async () => {
  const { parts } = chain;
  await dropFromPool(parts, [keys[0]!]);
  assert.equal(since(clock.time).extent, 2);
  clock.time += 10;
  const start = clock.time;
  const quiet = since(start);
  assert.deepEqual([quiet.extent, quiet.added, quiet.removed], [1, [], []]);
  await admit(parts, { blob: waiting[0]!, doNotRelay: false, phase: "fluff" });
  await admit(parts, { blob: waiting[1]!, doNotRelay: false });
  assert.deepEqual(since(start).added, keys);
  assert.deepEqual(since(start, true).added, [keys[0]]);
  clock.time++;
  await release(parts, keys[1]!);
  assert.deepEqual(since(clock.time).added, [], "it goes on its stem first");
  transact(parts, (writer) => parts.pool.update(writer, keys[1]!, { phase: "fluff" }));
  assert.deepEqual(since(clock.time, true).added, [keys[1]]);
  clock.time++;
  await dropFromPool(parts, [keys[0]!]);
  const gone = since(start);
  assert.deepEqual([gone.added, gone.removed], [[keys[1]], [keys[0]]]);
});

test("what left while only we knew of it is not told to strangers", async () => {
  const { parts } = chain;
  clock.time++;
  await admit(parts, { blob: waiting[0]!, doNotRelay: false });
  await dropFromPool(parts, [keys[0]!]);
  assert.deepEqual(since(clock.time).removed, [keys[0]]);
  assert.deepEqual(since(clock.time, true).removed, []);
});

test("a restricted port tells 100 transactions and 4 MiB of them whole, of the others the ids", () => {
  const { parts } = chain;
  const row = { ...parts.pool.get(keys[1]!)!.row };
  const put = (count: number, bytes: number) =>
    transact(parts, (writer) => {
      for (const { key } of parts.pool.entries()) parts.pool.remove(writer, key);
      const { prefix } = readTransaction(row.blob);
      for (let i = 0; i < count; i++) {
        const id = new Uint8Array(32).fill(i, 0, 1).fill(i >> 8, 1, 2);
        const big: PoolTransaction = { ...row, blob: new Uint8Array(bytes), maxUsedBlockHash: NULL_HASH };
        parts.pool.add(writer, id, big, prefix);
      }
    });
  put(150, 10);
  const many = ask({ requested_info: 2 }, true);
  assert.deepEqual([many.added!.length, many.remaining!.length], [100, 50]);
  assert.equal(new Set([...many.added!, ...many.remaining!]).size, 150);
  assert.equal(ask({ requested_info: 2 }).added!.length, 150);
  const context = { parts, restricted: true } as never;
  const { bytes } = poolInfo({ pool_info_since: 0n, prune: false, maxBytes: 1000 }, context);
  assert.equal(bytes, 100 * 10 + 50 * 32);
  put(50, 100_000);
  const heavy = ask({ requested_info: 2 }, true);
  assert.deepEqual([heavy.added!.length, heavy.remaining!.length], [41, 9]);
  assert.equal(ask({ requested_info: 2 }).added!.length, 50);
});

test("only the owner is told how long a transaction has been in the pool", async () => {
  const { handler } = poolHandlers().find(({ call }) => call.name === "get_txpool_backlog")!;
  const backlogOf = async (restricted: boolean) => {
    const context = { parts: chain.parts, restricted } as never;
    const { backlog } = (await handler!({} as never, context)) as { backlog: { time_in_pool: number }[] };
    return new Set(backlog.map(({ time_in_pool }) => time_in_pool));
  };
  const [entry] = chain.parts.pool.entries();
  clock.time = entry!.row.receiveTime + 331;
  assert.deepEqual(await backlogOf(false), new Set([331]));
  assert.deepEqual(await backlogOf(true), new Set([0]));
});
