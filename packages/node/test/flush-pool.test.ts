/** What the owner is told of texts that are no ids of transactions to drop from the pool. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { createNode } from "../src/index.ts";

test("texts that are no ids are told of when the pool is flushed, of all and of some", async (t) => {
  const node = createNode({ network: "regtest", fixedDifficulty: 1n });
  await node.start();
  t.after(() => node.stop());
  const flush = async (...txids: string[]) => {
    const body = JSON.stringify({ jsonrpc: "2.0", id: 0, method: "flush_txpool", params: { txids } });
    const response = await fetch(`${node.urls[0]}/json_rpc`, { method: "POST", body });
    return ((await response.json()) as { result: { status: string } }).result.status;
  };
  const id = "ab".repeat(32);
  assert.equal(await flush(), "OK");
  assert.equal(await flush(id), "OK");
  assert.equal(await flush("zz"), "Failed to parse txid");
  assert.equal(await flush(id, "zz", id), "Failed to parse some of the txids");
});
