import assert from "node:assert/strict";
import { test } from "node:test";
import { daemon, defaultLimits } from "../src/index.ts";
import { CallerShare } from "../src/server/caller-share.ts";
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
