/** What calls would cost where a node were paid for them, by the original's prices. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { costs, type Fields } from "../src/rpc/call-costs.ts";
import { createCallTracking } from "../src/rpc/call-tracking.ts";

const items = (count: number) => Array.from({ length: count }, () => 0);
const costOf = (name: string, params: Fields = {}, result: Fields = {}) => costs[name]!(params, result);

test("a call costs by what it asks for, and one credit at least", () => {
  const costsByName: readonly (readonly [name: string, list: string, each: number])[] = [
    ["get_blocks_by_height", "heights", 0.05],
    ["get_outs", "outputs", 1],
    ["get_outs_bin", "outputs", 1],
    ["get_transactions", "txs_hashes", 0.5],
    ["is_key_image_spent", "key_images", 0.01],
    ["relay_tx", "txids", 100],
  ];
  for (const [name, list, each] of costsByName) {
    assert.equal(costOf(name, { [list]: items(300) }), each * 300, name);
    assert.equal(costOf(name, { [list]: items(399) }), Math.floor(each * 399), name);
    assert.equal(costOf(name, { [list]: [] }), 1, name);
    assert.equal(costOf(name), 1, name);
  }
  assert.equal(costOf("get_block_headers_range", { start_height: 5, end_height: 104 }), 10);
  assert.equal(costOf("get_block_headers_range", { start_height: 5, end_height: 5 }), 1);
  assert.equal(costOf("get_coinbase_tx_sum", { height: 3n, count: 7n }), 14);
  assert.equal(costOf("get_coinbase_tx_sum", { height: 3n, count: 0n }), 1);
});

test("a call costs by what it is answered, beside one credit", () => {
  const costsByName: readonly (readonly [name: string, list: string, each: number])[] = [
    ["get_blocks", "blocks", 0.05],
    ["get_hashes", "m_block_ids", 0.002],
    ["get_transaction_pool", "transactions", 0.5],
    ["get_transaction_pool_hashes", "tx_hashes", 0.01],
  ];
  for (const [name, list, each] of costsByName) {
    assert.equal(costOf(name, {}, { [list]: items(1000) }), 1 + each * 1000, name);
    assert.equal(costOf(name, {}, { [list]: items(1) }), 1, name);
    assert.equal(costOf(name), 1, name);
  }
  assert.equal(costOf("get_txpool_backlog", {}, { backlog: items(50) }), 10);
  assert.equal(costOf("get_txpool_backlog", {}, { backlog: [] }), 1);
});

test("what looks at all outputs costs by the amounts", () => {
  assert.equal(costOf("get_output_histogram", { amounts: [] }), 5_000_000);
  assert.equal(costOf("get_output_histogram", { amounts: [1n, 2n] }), 50_000);
  for (const name of ["get_output_distribution", "get_output_distribution_bin"]) {
    assert.equal(costOf(name, { amounts: [0n] }), 20);
    assert.equal(costOf(name, { amounts: [0n, 5n, 6n] }), 100_020);
    assert.equal(costOf(name, { amounts: [] }), 1);
    assert.equal(costOf(name), 1);
  }
});

test("other calls have one price", () => {
  const costsByName = Object.fromEntries(
    [
      "get_info",
      "get_indexes",
      "get_transaction_pool_stats",
      "get_last_block_header",
      "get_block_header_by_hash",
      "get_block_header_by_height",
      "get_block",
      "hard_fork_info",
      "get_base_fee_estimate",
      "sync_info",
      "send_raw_tx",
    ].map((name) => [name, costOf(name)]),
  );
  const { sync_info, send_raw_tx, ...others } = costsByName;
  assert.deepEqual([sync_info, send_raw_tx], [2, 100]);
  assert.deepEqual(new Set(Object.values(others)), new Set([1]));
});

test("calls are counted by name, in order of the names, up to what a number can hold", () => {
  const calls = createCallTracking();
  assert.deepEqual(calls.entries(), []);
  calls.note("get_outs", { ms: 1.5, credits: 3 });
  calls.note("get_info", {});
  calls.note("get_outs", { ms: 0.25, credits: 4 });
  calls.note("submitblock", { count: 7 });
  assert.deepEqual(calls.entries(), [
    { rpc: "get_info", count: 1, time: 0, credits: 0 },
    { rpc: "get_outs", count: 2, time: 1_750_000, credits: 7 },
    { rpc: "submitblock", count: 7, time: 0, credits: 0 },
  ]);
  calls.note("get_outs", { credits: Number.MAX_SAFE_INTEGER });
  assert.equal(calls.entries()[1]!.credits, Number.MAX_SAFE_INTEGER);
  calls.entries()[0]!.count = 99;
  assert.equal(calls.entries()[0]!.count, 1, "what was told does not change what is counted");
  calls.clear();
  assert.deepEqual(calls.entries(), []);
});
