import assert from "node:assert/strict";
import { test } from "node:test";
import { loadChain, loadGoldenState } from "../src/fixtures.ts";

test("the golden state holds the chain, two side blocks and a pool", () => {
  const state = loadGoldenState();
  assert.equal(state.blocks.length, state.height - 1);
  assert.equal(state.block_hashes.at(-1), state.top_hash);
  assert.deepEqual([state.alt.length, state.pool.length], [2, 2]);
});

test("the recorded chain has 500 blocks and 402 payments", () => {
  const chain = loadChain();
  assert.equal(chain.blocks.length, 499);
  assert.equal(
    chain.blocks.reduce((sum, { txs }) => sum + txs.length, 0),
    402,
  );
  assert.equal(chain.poolTransactions.length, 120);
  assert.equal(chain.hashes.at(-1), "62f8d894bd8aa65b49399d82af7db984b789daaa99976cb59f8cbf3b27aa9e8d");
});
