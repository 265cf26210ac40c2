import assert from "node:assert/strict";
import { test } from "node:test";
import { daemon, defaultLimits } from "../src/index.ts";
import { CallerShare } from "../src/server/caller-share.ts";
import { batchCost, divideLimits } from "../src/server/limits.ts";
import { RequestBudget } from "../src/server/request-budget.ts";

test("a request that is admitted again has given back what it had before it waits", async () => {
  const heldBytes = 8 * 2 ** 20;
  const share = new CallerShare(
    { ...defaultLimits, heldBytes, heldBytesPerAddress: heldBytes },
    { isForStrangers: false },
  );
  const cost = { ...daemon.pool.getTransactionPool.cost, responseBytes: heldBytes / 2 };
  const budget = new RequestBudget(share.open("192.0.2.1"), 0);
  await budget.admit(cost);
  const first = share.heldBytes;
  assert.ok(first > 0);
  for (let i = 0; i < 3; i++) await budget.admit(cost);
  assert.equal(share.heldBytes, first);
  budget.end();
  assert.equal(share.heldBytes, 0);
});

test("the copy of a body is reserved beside what the request has, and nothing of it is left afterwards", () => {
  const share = new CallerShare(defaultLimits, { isForStrangers: false });
  const caller = share.open("192.0.2.1");
  const { cost } = daemon.blocks.getBlock;
  const budget = new RequestBudget(caller, 1000);
  budget.checkRequest(cost, 10);
  const before = caller.request.bytes;
  assert.ok(before > 1000);
  budget.reserveCopy();
  assert.equal(caller.request.bytes, before + 1000);
  budget.releaseCopy();
  assert.equal(caller.request.bytes, before);
  budget.reserveCopy();
  caller.leave();
  budget.releaseCopy();
  assert.deepEqual([caller.request.bytes, share.heldBytes], [0, 0]);
});

test("without memory for the copy of a body the request is refused", () => {
  const share = new CallerShare({ ...defaultLimits, heldBytes: 3000 }, { isForStrangers: false });
  const budget = new RequestBudget(share.open("192.0.2.1"), 1000);
  budget.reserveCopy();
  assert.throws(() => budget.reserveCopy(), /too many requests/);
});

test("a batch costs the rows of all its calls, and the memory of the one that takes most", () => {
  const call = (rows: number, memoryBytes: number) => ({
    requestBytes: 1,
    memoryBytes,
    rows,
    responseBytes: 1,
  });
  const most = 2 ** 30;
  const cost = batchCost(defaultLimits, [call(3, most - 1), call(0, most), call(4, most - 2)]);
  const { requestBytes, batchBytes } = defaultLimits;
  assert.deepEqual(cost, { requestBytes, memoryBytes: most, rows: 7, responseBytes: batchBytes });
  const none = batchCost(defaultLimits, []);
  assert.equal(none.rows, 0);
  assert.ok(none.memoryBytes > 0 && none.memoryBytes < most);
});

test("strangers have a quarter of the memory, and no more than these of everything else", () => {
  const MiB = 2 ** 20;
  const bounds = {
    requestMemoryBytes: 2 * MiB,
    answerBytes: 32 * MiB,
    requestsPerAddress: 200,
    expensiveCalls: 2,
    eventLoopShare: 0.4,
    batch: 20,
    batchBytes: 4 * MiB,
    heldBytesPerAddress: 64 * MiB,
    streams: 32,
    streamsPerAddress: 4,
  };
  const large = { ...defaultLimits, heldBytes: 1000 * MiB + 3 };
  for (const name of Object.keys(bounds) as (keyof typeof bounds)[]) large[name] = 2 ** 40;
  const { owner, strangers } = divideLimits(large);
  const quarter = 250 * MiB;
  const lowered = { ...bounds, heldBytes: quarter, leastRate: 16 * 1024, reservedBytes: 32 * MiB };
  assert.deepEqual(strangers, { ...large, ...lowered });
  assert.deepEqual(owner, { ...large, heldBytes: 750 * MiB + 3 });
  const small = { ...defaultLimits };
  for (const name of Object.keys(bounds) as (keyof typeof bounds)[]) small[name] = bounds[name] / 2;
  for (const [name, most] of Object.entries(bounds))
    assert.equal(divideLimits(small).strangers[name as keyof typeof bounds], most / 2, name);
});
