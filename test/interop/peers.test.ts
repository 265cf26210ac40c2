import assert from "node:assert/strict";
import { test } from "node:test";
import { call, loadBlocks } from "@anulo/testkit";
import { needsRealPrograms } from "../actors.ts";
import { agree, chain, until, withActors } from "./peer-actors.ts";

/** Blocks of the recorded chain that go from peer to peer. */
const BLOCKS = 420;
const story = chain.blocks.slice(0, BLOCKS);

test(
  "a chain goes from ours to the original and on to ours; then news go both ways",
  needsRealPrograms,
  async (t) => {
    await withActors(["ours", "real", "ours"], async (first, middle, last) => {
      await first.start();
      await loadBlocks(first.url, story);
      await first.start([]);
      const payments = story.reduce((sum, { txs }) => sum + txs.length, 0);
      assert.ok(payments >= 300);

      const began = Date.now();
      await middle.start([first]);
      await agree(first, middle);
      const passed = Date.now();
      await last.start([middle]);
      await agree(middle, last);
      t.diagnostic(`${BLOCKS} blocks, ${payments} payments: to the original ${passed - began} ms`);
      t.diagnostic(`and to ours ${Date.now() - passed} ms`);
      const sum = { height: 0, count: BLOCKS };
      const [theirs, own] = await Promise.all(
        [middle, last].map(({ url }) => call(url, "get_coinbase_tx_sum", sum)),
      );
      assert.deepEqual(own, theirs);

      // Who gave the chain away has not met an equal yet; after this it has.
      await first.start([]);
      await until(
        "it is synchronized",
        async () => (await call(first.url, "get_info")).synchronized === true,
      );
      for (const miner of [first, middle, last]) {
        await miner.mine(2);
        await agree(first, middle, last);
      }
    });
  },
);
