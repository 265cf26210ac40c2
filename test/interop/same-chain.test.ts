import assert from "node:assert/strict";
import { test } from "node:test";
import { call, type ExactObject, sendTransaction, submitBlock } from "@anulo/testkit";
import { needsRealPrograms, onStage, otherSide, type Side } from "../actors.ts";
import { readBlocks, tellStory } from "./story.ts";

async function newestHeader(url: string): Promise<ExactObject> {
  const { block_header } = await call(url, "get_last_block_header", { fill_pow_hash: false });
  return block_header as ExactObject;
}

async function headerAt(url: string, height: number): Promise<ExactObject> {
  const { block_header } = await call(url, "get_block_header_by_height", { height });
  return { ...(block_header as ExactObject), depth: 0 };
}

/** Feeds one node's blocks to another; after each, every field of the two headers must be the same. */
async function feed(from: string, to: string): Promise<number> {
  const blocks = await readBlocks(from);
  for (const [index, { blob, txs }] of blocks.entries()) {
    for (const hex of txs) await sendTransaction(to, hex);
    await submitBlock(to, blob);
    assert.deepEqual(await newestHeader(to), await headerAt(from, index + 1));
  }
  return blocks.length;
}

for (const teller of ["ours", "real"] as const satisfies Side[]) {
  const listener = otherSide[teller];
  test(
    `a chain of payments made by ${teller} is the same chain to ${listener}`,
    needsRealPrograms,
    async (t) => {
      await onStage(async (stage) => {
        const { daemon, payments } = await tellStory(stage, teller);
        const witness = await stage.daemon(listener);
        const height = await feed(daemon.url, witness.url);
        t.diagnostic(`${height} blocks, ${payments} payments`);
        assert.ok(height >= 100 && payments >= 20);
        const sum = { height: 0, count: height + 1 };
        const [theirs, own] = await Promise.all(
          [witness, daemon].map(({ url }) => call(url, "get_coinbase_tx_sum", sum)),
        );
        assert.deepEqual(theirs, own);
      });
    },
  );
}
