import assert from "node:assert/strict";
import { test } from "node:test";
import { call, loadBlocks, sendTransaction } from "@anulo/testkit";
import { needsRealPrograms } from "../actors.ts";
import { agree, short, until, withActors } from "./peer-actors.ts";

test(
  "transactions reach everybody through ours and the original, and leave with their block",
  needsRealPrograms,
  async () => {
    await withActors(["ours", "real", "ours"], async (first, middle, last) => {
      await first.start();
      const busy = short.blocks.findIndex(({ txs }) => txs.length >= 3);
      await loadBlocks(first.url, short.blocks.slice(0, busy));
      await first.start([]);
      await middle.start([first]);
      await agree(first, middle);
      await last.start([middle]);
      await agree(middle, last);
      await first.start([]);
      await until(
        "it is synchronized",
        async () => (await call(first.url, "get_info")).synchronized === true,
      );
      const { txs } = short.blocks[busy]!;
      const senders = [first, middle, last];
      for (const [i, sender] of senders.entries()) await sendTransaction(sender.url, txs[i]!);
      await until("all know all transactions", async () => {
        const known = await Promise.all(senders.map((actor) => actor.pool()));
        return known.every((count) => count === senders.length);
      });
      await middle.mine(1);
      await agree(first, middle, last);
      for (const actor of senders) assert.equal(await actor.pool(), 0);
    });
  },
);
