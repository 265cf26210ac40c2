import assert from "node:assert/strict";
import { test } from "node:test";
import { ByteBudget } from "../src/byte-budget.ts";

test("a reservation grows up to what is left, and gives back what it shrinks by", () => {
  const budget = new ByteBudget(100);
  const first = budget.reserve(60)!;
  assert.equal(budget.reserve(41), undefined);
  const second = budget.reserve(40)!;
  assert.equal(first.resize(61), false);
  assert.equal(first.bytes, 60, "a refused change leaves it as it was");
  assert.ok(second.resize(10));
  assert.ok(first.resize(90));
  assert.equal(budget.available, 0);
  first.release();
  first.release();
  assert.equal(budget.used, 10);
});

test("a budget within another one counts against both", () => {
  const all = new ByteBudget(100);
  const strangers = new ByteBudget(70, all);
  const owner = new ByteBudget(100, all);
  const flood = strangers.reserve(70)!;
  assert.equal(strangers.reserve(1), undefined, "strangers are at their limit");
  assert.ok(owner.reserve(30), "what they can't reach is left to the owner");
  assert.equal(owner.reserve(1), undefined, "all together are at theirs");
  flood.release();
  assert.equal(all.used, 30);
  assert.equal(strangers.available, 70);
});
