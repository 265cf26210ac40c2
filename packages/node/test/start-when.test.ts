import assert from "node:assert/strict";
import { test } from "node:test";
import type { Miner, MiningOrder } from "../src/mining/miner.ts";
import { startWhen } from "../src/mining/start-when.ts";

const order = { address: "an address" } as MiningOrder;

/** A miner that notes how it is started. */
function watchedMiner(isMining = false) {
  const starts: MiningOrder[] = [];
  const state = () => (isMining || starts.length > 0 ? {} : undefined);
  return { starts, miner: { start: (with_: MiningOrder) => starts.push(with_), state } as unknown as Miner };
}

test("mining begins at once where the node is ready, else as soon as it is, and once", (t) => {
  t.mock.timers.enable({ apis: ["setInterval"] });
  const ready = watchedMiner();
  startWhen(() => true, ready.miner, order);
  assert.deepEqual(ready.starts, [order]);
  let isReady = false;
  const { starts, miner } = watchedMiner();
  startWhen(() => isReady, miner, order);
  t.mock.timers.tick(5000);
  assert.deepEqual(starts, []);
  isReady = true;
  t.mock.timers.tick(1000);
  t.mock.timers.tick(5000);
  assert.deepEqual(starts, [order]);
});

test("who was told to stop before, or mines already, is not started", (t) => {
  t.mock.timers.enable({ apis: ["setInterval"] });
  let isReady = false;
  const { starts, miner } = watchedMiner();
  const stop = startWhen(() => isReady, miner, order);
  stop();
  isReady = true;
  t.mock.timers.tick(5000);
  assert.deepEqual(starts, []);
  const busy = watchedMiner(true);
  startWhen(() => true, busy.miner, order);
  assert.deepEqual(busy.starts, []);
});
