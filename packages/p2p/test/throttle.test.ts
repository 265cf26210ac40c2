import assert from "node:assert/strict";
import { test } from "node:test";
import { FairShare, TokenBucket } from "../src/throttle.ts";
import { FakeClock } from "./fakes.ts";

test("a bucket lets through its rate, and pays debts first", async () => {
  const clock = new FakeClock();
  const bucket = new TokenBucket(clock, 1000);
  bucket.take(3000);
  assert.equal(bucket.isOpen, false);
  assert.equal(bucket.wait, 2001);
  await clock.pass(2);
  assert.equal(bucket.isOpen, false);
  await clock.pass(1);
  assert.equal(bucket.isOpen, true);
  await clock.pass(100);
  bucket.take(1001);
  assert.equal(bucket.isOpen, false, "no more than a second's worth is saved up");
});

test("those who wait share evenly, however much one wants", async () => {
  const clock = new FakeClock();
  const share = new FairShare(clock, 10_000);
  const moved = { greedy: 0, modest: 0 };
  const turn = (name: keyof typeof moved, piece: number) => ({
    move() {
      moved[name] += piece;
      return piece;
    },
  });
  share.enter(turn("greedy", 1000));
  share.enter(turn("modest", 1000));
  await clock.pass(20);
  assert.ok(Math.abs(moved.greedy - moved.modest) <= 10_000, JSON.stringify(moved));
  const total = moved.greedy + moved.modest;
  assert.ok(total >= 190_000 && total <= 225_000, String(total));
});
