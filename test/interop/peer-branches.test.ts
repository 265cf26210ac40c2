import assert from "node:assert/strict";
import { test } from "node:test";
import { loadBlocks } from "@anulo/testkit";
import { needsRealPrograms, otherSide, type Side } from "../actors.ts";
import { agree, short, withActors } from "./peer-actors.ts";

for (const side of ["ours", "real"] as const satisfies readonly Side[]) {
  test(
    `a branch with payments made by ${side} replaces ten blocks of the other`,
    needsRealPrograms,
    async () => {
      await withActors([side, otherSide[side]], async (winner, loser) => {
        const fork = short.blocks.findIndex(({ txs }) => txs.length > 1);
        await winner.start();
        await loadBlocks(winner.url, short.blocks.slice(0, fork));
        await loser.start();
        await loadBlocks(loser.url, short.blocks.slice(0, fork));
        await loser.mine(10);
        await loadBlocks(winner.url, short.blocks.slice(fork, fork + 13));
        const lost = await loser.top();
        await winner.start([]);
        await loser.start([winner]);
        await agree(winner, loser);
        assert.notEqual(await loser.top(), lost);
        assert.equal(await loser.height(), fork + 14);
      });
    },
  );
}
