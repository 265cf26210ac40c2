/** What is told of a block, on the main chain and beside it. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { blockAt, blockOf } from "../src/rpc/describe-block.ts";
import { emptyChain, mine } from "./chain-fixture.ts";

test("a block is told of alike on the main chain and beside it, on a block of either", async () => {
  const chain = await emptyChain();
  const { read } = chain.parts.store;
  const main = await mine(chain.parts, 3);
  const side = await mine(chain.parts, 2, main[0]);
  assert.equal(read.height(), 4);
  const toldOf = (id: Uint8Array) => {
    const { height, orphan, difficulty, cumulativeDifficulty, transactionCount } = blockOf(read, id)!;
    return { height, orphan, difficulty, cumulativeDifficulty, transactionCount };
  };
  const shared = { difficulty: 1n, transactionCount: 1 };
  for (const [i, id] of main.slice(1).entries())
    assert.deepEqual(toldOf(id), {
      ...shared,
      height: 2 + i,
      orphan: false,
      cumulativeDifficulty: BigInt(3 + i),
    });
  for (const [i, id] of side.entries())
    assert.deepEqual(toldOf(id), {
      ...shared,
      height: 2 + i,
      orphan: true,
      cumulativeDifficulty: BigInt(3 + i),
    });
  const [onMain, beside] = [blockOf(read, main[1]!)!, blockOf(read, side[0]!)!];
  assert.deepEqual([onMain.longTermWeight > 0, beside.longTermWeight], [true, 0]);
  assert.deepEqual([beside.weight, beside.reward], [onMain.weight, onMain.reward]);
  assert.deepEqual(beside.header.previousId, main[0]);
  assert.deepEqual([onMain.hash, beside.hash], [main[1], side[0]]);
  assert.equal(blockOf(read, new Uint8Array(32).fill(1)), undefined);
  await chain.close();
});

test("blocks that are told of one after another are the same as each by itself", async () => {
  const chain = await emptyChain();
  const { read } = chain.parts.store;
  await mine(chain.parts, 3);
  const genesis = blockAt(read, 0)!;
  assert.deepEqual([genesis.difficulty, genesis.cumulativeDifficulty, genesis.height], [1n, 1n, 0]);
  const first = blockAt(read, 1)!;
  for (const before of [genesis, first, undefined]) {
    assert.deepEqual(blockAt(read, 2, before), blockAt(read, 2));
  }
  assert.equal(blockAt(read, 4), undefined);
  await chain.close();
});
