/** When blocks that were fetched are read, beside other works of the node. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { BlockImporter } from "../src/chain/import-blocks.ts";
import { readIncomingBlock } from "../src/chain/incoming-block.ts";
import { createBlockQueue, type QueuedBlock } from "../src/peers/block-queue.ts";
import { createSpanImport } from "../src/peers/import-spans.ts";
import { emptyChain } from "./chain-fixture.ts";
import { recordedChain } from "./recorded-chains.ts";

test("fetched blocks are read in the turns that the works of a sync share", async () => {
  const { parts, close } = await emptyChain();
  const fetched = recordedChain()
    .slice(0, 3)
    .map(({ blob, transactions }): QueuedBlock => {
      const { block, id, key, minerTransactionHash } = readIncomingBlock(blob);
      const { previousId } = block.header;
      return { blob, txs: transactions, id, key, previousId, minerTransactionHash };
    });
  const queue = createBlockQueue();
  const needed = fetched.map(({ id, key }, i) => ({ id, key, height: 1 + i, weight: 1 }));
  const span = queue.reserve({} as never, needed as never, 0);
  Object.assign(span, { fetched });
  const done: string[] = [];
  const staged: number[] = [];
  const importer: BlockImporter = {
    async stage(blocks) {
      done.push("staged");
      staged.push(blocks.length);
      return { completion: Promise.resolve() };
    },
    write() {},
  };
  const fail = (error: unknown) => assert.fail(String(error));
  const spans = createSpanImport({
    ...{ parts, importer, queue, onAdded() {}, onBad: fail, onUnknownParent: fail },
    ...{ onParentLost: fail, onFault: fail },
  });
  // The time of this turn is used up, so that the second block waits behind what has waited longer.
  parts.turns.count(1000);
  for (const name of ["one", "another"]) void parts.turns.next().then(() => done.push(name));
  spans.run();
  while (spans.isBusy) await parts.turns.next();
  assert.deepEqual([done, staged], [["one", "another", "staged"], [3]]);
  await close();
});
