import assert from "node:assert/strict";
import { test } from "node:test";
import { createNode } from "@anulo/node";
import { fromHex, readBlock } from "@anulo/protocol";
import { loadEras } from "./fixture.ts";
import { forkHeights, networkWithForks } from "./plan.ts";
import { walkEras } from "./walk.ts";

test("a chain through all sixteen hard forks", async (t) => {
  const eras = loadEras();
  const last = readBlock(fromHex(eras.blocks.at(-1)!.blob)).header.timestamp;
  const node = createNode({
    network: networkWithForks(forkHeights),
    fixedDifficulty: 1n,
    dialect: "upstream",
    now: () => last + 1000,
  });
  await node.start();
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
