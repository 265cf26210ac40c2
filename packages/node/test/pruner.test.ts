/** Pruning beside all other work, on a store that is no more than a number of heights. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { ChainStore, PruneStep } from "@anulo/storage";
import { createPruner } from "../src/chain/pruning.ts";

const END = 20;

function storeOf(seedBefore: number) {
  const seeds: number[] = seedBefore === 0 ? [] : [seedBefore];
  let height = 0;
  const writer = {
    startPruning: (seed: number) => void seeds.push(seed),
    pruneOn(): PruneStep {
      const dropped = height < END ? 3 : 0;
      height = Math.min(END, height + 1);
      return { height, end: END, dropped };
    },
  };
  const store = {
    read: { pruningSeed: () => seeds.at(-1) ?? 0 },
    write: (change: (to: typeof writer) => unknown) => change(writer),
    whenWritable: async (change: () => unknown) => change(),
  };
  return { store: store as unknown as ChainStore, seeds, height: () => height };
}

test("pruning begins with a stripe of its own, goes on to the end, and tells how far it is every five seconds", async (t) => {
  const { store, seeds, height } = storeOf(0);
  let nowMs = 0;
  t.mock.method(performance, "now", () => nowMs);
  const told: number[] = [];
  const pruner = createPruner(store, { onProgress: (step) => told.push(step.height) });
  const { whenWritable } = store;
  Object.assign(store, {
    whenWritable: (change: () => unknown) => {
      nowMs += 1001;
      return whenWritable(change as never);
    },
  });
  await pruner.prune();
  assert.equal(height(), END);
  assert.equal(seeds.length, 1);
  assert.notEqual(seeds[0], 0);
  assert.deepEqual(told, [5, 10, 15, 20]);
  await pruner.prune();
  assert.equal(seeds.length, 1, "a stripe is for good");
  assert.deepEqual(told, [5, 10, 15, 20], "nothing is left to drop, and nothing to tell");
  await pruner.stop();
});

test("one that is stopped prunes nothing more", async () => {
  const { store, height } = storeOf(385);
  const pruner = createPruner(store);
  const pruned = pruner.prune();
  await pruner.stop();
  await pruned;
  assert.ok(height() < END);
});

test("a check lets others have their turns, and ends when it is stopped", async (t) => {
  let nowMs = 0;
  t.mock.method(performance, "now", () => nowMs++);
  const { store } = storeOf(0);
  let checked = 0;
  const blockInfo = () => {
    checked++;
    return { firstTransactionId: 0, transactionCount: 0 };
  };
  const read = { height: () => 100, pruningSeed: () => 0, prunedHeight: () => 0, blockInfo };
  const pruner = createPruner(Object.assign(store, { read: read as never }));
  const check = pruner.check();
  const checkedInFirstTurn = checked;
  assert.ok(checkedInFirstTurn < 100);
  await pruner.stop();
  assert.equal(await check, true);
  assert.equal(checked, checkedInFirstTurn);
  const whole = createPruner(Object.assign(store, { read: read as never }));
  checked = 0;
  assert.equal(await whole.check(), true);
  assert.equal(checked, 100);
  Object.assign(read, { blockInfo: () => undefined });
  assert.equal(await whole.check(), false);
  await whole.stop();
});

test("a database that is not pruned stays so, one that is goes on by itself", (t) => {
  t.mock.timers.enable({ apis: ["setInterval"] });
  let written = 0;
  const counting = (seed: number) => {
    const { store } = storeOf(seed);
    const { whenWritable } = store;
    Object.assign(store, {
      whenWritable: (change: () => unknown) => {
        written++;
        return whenWritable(change as never);
      },
    });
    return createPruner(store);
  };
  counting(0);
  t.mock.timers.tick(60_000);
  assert.equal(written, 0);
  counting(385);
  t.mock.timers.tick(60_000);
  assert.equal(written, 1);
});
