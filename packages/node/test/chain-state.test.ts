import assert from "node:assert/strict";
import { test } from "node:test";
import { networks } from "@anulo/protocol";
import { popBlocks } from "../src/chain/chain.ts";
import { createChainState } from "../src/chain/chain-state.ts";
import type { ChainParts } from "../src/chain/parts.ts";
import { transact } from "../src/pool/parts.ts";
import { emptyChain, mine } from "./chain-fixture.ts";

/** All that the rules' view says of the windows below the tip. */
function picture({ state }: Pick<ChainParts, "state">) {
  const view = state.view();
  const { height, topId, longTermWeightMedian, cumulativeDifficulty, alreadyGenerated } = view;
  return {
    ...{ height, topId, longTermWeightMedian, cumulativeDifficulty, alreadyGenerated },
    timestamps: view.recentTimestamps(735),
    difficulties: view.recentCumulativeDifficulties(735),
    weights: view.recentWeights(100),
    afterEmpty: [0, 1, 7, 100].map((count) => state.longTermWeightMedianAfterEmpty(count)),
  };
}

/** The same of windows that are loaded from the store now. */
function loadedAnew({ store }: ChainParts) {
  const options = {
    fixedDifficulty: 1n,
    seedSchedule: undefined,
    checkpoints: undefined,
    knownBlockId: undefined,
  };
  return picture({ state: createChainState({ ...options, read: store.read, network: networks.regtest }) });
}

// Turns without a pause: what a change of the chain costs must not grow with the chain below it.
test("the windows below the tip follow it back and forth, reading only what moved", async () => {
  const chain = await emptyChain();
  const { parts } = chain;
  const main = await mine(parts, 900);
  assert.deepEqual(picture(parts), loadedAnew(parts));
  const { read } = parts.store;
  const { blockInfoColumn } = read;
  let rows = 0;
  const counted: typeof blockInfoColumn = (field, from, to) => {
    rows += to - from;
    return blockInfoColumn(field, from, to);
  };
  Object.assign(read, { blockInfoColumn: counted });
  await popBlocks(parts, 30);
  const popped = picture(parts);
  const side = await mine(parts, 12, main[850]);
  await mine(parts, 25, side.at(-1));
  const later = picture(parts);
  assert.ok(rows < 100, `${rows} long-term weights read`);
  Object.assign(read, { blockInfoColumn });
  assert.equal(popped.height, 871);
  assert.deepEqual(later, loadedAnew(parts));
  await popBlocks(parts, 600);
  assert.deepEqual(picture(parts), loadedAnew(parts));
  await chain.close();
});

test("no caller is charged for the rows of windows that are loaded again", async () => {
  const chain = await emptyChain();
  const { parts } = chain;
  await mine(parts, 900);
  await popBlocks(parts, 600);
  const before = parts.store.rowsRead();
  parts.state.view();
  assert.equal(parts.store.rowsRead(), before);
  loadedAnew(parts);
  assert.ok(parts.store.rowsRead() >= before + 300);
  await chain.close();
});

test("a view stays the same where a write was taken back that changed nothing", async () => {
  const chain = await emptyChain();
  const { parts } = chain;
  await mine(parts, 3);
  const view = parts.state.view();
  const fail = () => {
    throw new Error("given up");
  };
  assert.throws(() => transact(parts, fail), /given up/);
  assert.equal(parts.state.view(), view);
  await chain.close();
});
