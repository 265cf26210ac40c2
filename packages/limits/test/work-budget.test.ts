import assert from "node:assert/strict";
import { test } from "node:test";
import { WorkBudget } from "../src/work-budget.ts";

test("a sender in debt waits until time has paid it", () => {
  let time = 1000;
  const budget = new WorkBudget({ share: 0.1, burstMs: 50, now: () => time });
  budget.charge(50);
  assert.equal(budget.waitMs, 0, "what is saved up may be used");
  budget.charge(20);
  assert.equal(budget.waitMs, 200, "20 ms at a tenth of a core");
  time += 199;
  assert.ok(budget.waitMs > 0);
  time += 1;
  assert.equal(budget.waitMs, 0);
});

test("no more is saved up than the burst", () => {
  let time = 0;
  const budget = new WorkBudget({ share: 0.5, burstMs: 10, now: () => time });
  time += 1_000_000;
  budget.charge(11);
  assert.equal(budget.waitMs, 2);
});
