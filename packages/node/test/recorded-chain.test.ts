import assert from "node:assert/strict";
import { test } from "node:test";
import { toHex } from "@anulo/protocol";
import { createNode } from "../src/index.ts";
import { type RecordedHeader, recordedChain, recordedHeaders, recordedPool } from "./recorded-chains.ts";

/** Calls a node like any client: a method by name, a path with its slash. */
async function call(url: string, name: string, params: unknown): Promise<Record<string, unknown>> {
  const isPath = name.startsWith("/");
  const body = isPath ? params : { jsonrpc: "2.0", id: "0", method: name, params };
  const response = await fetch(url + (isPath ? name : "/json_rpc"), {
    method: "POST",
    body: JSON.stringify(body),
  });
  const answer = (await response.json()) as Record<string, unknown>;
  if (isPath) return answer;
  assert.equal(answer.error, undefined);
  return answer.result as Record<string, unknown>;
}

function only({
  height,
  hash,
  block_weight,
  long_term_weight,
  reward,
  cumulative_difficulty,
  num_txes,
}: RecordedHeader) {
  return { height, hash, block_weight, long_term_weight, reward, cumulative_difficulty, num_txes };
}

test("the recorded chain of 500 blocks loads through RPC, fully verified, each block as monerod has it", async () => {
  const node = createNode({ network: "regtest", fixedDifficulty: 1n });
  await node.start();
  const url = node.urls[0]!;
  for (const { blob, transactions } of recordedChain()) {
    for (const tx of transactions) {
      const sent = await call(url, "/send_raw_transaction", { tx_as_hex: toHex(tx) });
      assert.equal(sent.status, "OK", String(sent.reason));
      assert.equal(sent.not_relayed, false);
    }
    assert.equal((await call(url, "submit_block", [toHex(blob)])).status, "OK");
  }
  const wanted = recordedHeaders();
  const range = { start_height: 0, end_height: wanted.length - 1 };
  const { headers } = await call(url, "get_block_headers_range", range);
  assert.deepEqual((headers as RecordedHeader[]).map(only), wanted.map(only));
  const sums = await call(url, "get_coinbase_tx_sum", { height: 0, count: wanted.length });
  assert.equal(sums.wide_emission_amount, "0x3e68674b7b66ae");
  assert.equal(sums.wide_fee_amount, "0x145f73de580");
  const last = { height: wanted.length - 1, count: wanted.length };
  assert.equal((await call(url, "get_coinbase_tx_sum", last)).status, "OK");
  const tooLarge = {
    status: "height or count is too large",
    ...{ emission_amount: 0, emission_amount_top64: 0, wide_emission_amount: "" },
    ...{ fee_amount: 0, fee_amount_top64: 0, wide_fee_amount: "" },
  };
  for (const beyond of [
    { height: wanted.length, count: 1 },
    { height: 0, count: wanted.length + 1 },
  ]) {
    const answer = await call(url, "get_coinbase_tx_sum", beyond);
    assert.deepEqual({ ...answer, ...tooLarge }, answer);
  }
  await Promise.all(
    recordedPool().map(async (tx) => {
      assert.equal((await call(url, "/send_raw_transaction", { tx_as_hex: toHex(tx) })).status, "OK");
    }),
  );
  assert.equal((await call(url, "/get_height", {})).height, wanted.length);
  assert.equal((await call(url, "get_info", {})).tx_pool_size, 120);
  await node.stop();
});
