import assert from "node:assert/strict";
import { test } from "node:test";
import { createNode, type Node } from "@anulo/node";
import { blockId, fromHex, readBlock, toHex } from "@anulo/protocol";
import { call } from "@anulo/testkit";
import { type ErasFixture, loadEras } from "./fixture.ts";
import { createLedger } from "./forge/ledger.ts";
import { forkHeights, networkWithForks } from "./plan.ts";
import { walkEras } from "./walk.ts";

async function startNode(eras: ErasFixture): Promise<Node> {
  const last = readBlock(fromHex(eras.blocks.at(-1)!.blob)).header.timestamp;
  const node = createNode({
    network: networkWithForks(forkHeights),
    fixedDifficulty: 1n,
    dialect: "upstream",
    now: () => last + 1000,
  });
  await node.start();
  return node;
}

test("a chain through all sixteen hard forks", async (t) => {
  const eras = loadEras();
  const node = await startNode(eras);
  try {
    const walk = await walkEras(node.urls[0]!, eras);
    const { counts } = walk;
    await t.test("gives every block the weights, rewards and ids it has at the real node", () => {
      assert.deepEqual(walk.blocks, []);
    });
    await t.test("gets the real node's answers about forks and fees", () => {
      assert.deepEqual(walk.answers, []);
    });
    await t.test("takes and refuses transactions of other eras as the real node does", () => {
      assert.deepEqual(walk.transactions, []);
    });
    await t.test("takes and refuses blocks on both sides of each fork as the real node does", () => {
      assert.deepEqual(walk.strangeBlocks, []);
    });
    t.diagnostic(JSON.stringify(counts));
  } finally {
    await node.stop();
  }
});

/** Adds so many empty blocks on a block (its id in hexadecimal); the id of the last. */
async function addBranch(url: string, parent: string, length: number): Promise<string> {
  const { address } = createLedger("eras");
  let top = parent;
  for (let i = 0; i < length; i++) {
    const params = { wallet_address: address, reserve_size: 0, prev_block: top };
    const { blocktemplate_blob } = await call(url, "get_block_template", params);
    await call(url, "submit_block", [blocktemplate_blob!]);
    top = toHex(blockId(readBlock(fromHex(String(blocktemplate_blob)))));
  }
  return top;
}

test("a branch across hard forks 12 to 14 becomes the main chain, and is left again", async () => {
  const eras = loadEras();
  const node = await startNode(eras);
  const url = node.urls[0]!;
  const isTried = () => false;
  const [leavesAt, top] = [forkHeights[10]! - 10, forkHeights[12]! + 8];
  try {
    await walkEras(url, eras, { isTried, to: top });
    const parent = String(eras.blocks[leavesAt - 1]!.header.hash);
    const branchTop = await addBranch(url, parent, top - leavesAt + 1);
    const { height, top_block_hash } = await call(url, "get_info", {});
    assert.deepEqual([Number(height), top_block_hash], [top + 2, branchTop]);
    assert.equal(Number((await call(url, "hard_fork_info", {})).version), 14);
    // These hold no transactions; of those below them hard fork 14 lets none wait in the pool that are of type 4.
    for (const { blob, transactions } of eras.blocks.slice(top, top + 3)) {
      assert.deepEqual(transactions, []);
      await call(url, "submit_block", [blob]);
    }
    const walk = await walkEras(url, eras, { isTried, from: top + 4 });
    assert.deepEqual([walk.blocks, walk.answers], [[], []]);
    assert.equal(walk.counts.blocks, eras.blocks.length - top - 3);
  } finally {
    await node.stop();
  }
});
