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

test("one who waits alone goes on as the bucket fills, until it has nothing more to move", async () => {
  const clock = new FakeClock();
  const share = new FairShare(clock, 1000);
  let left = 5000;
  share.enter({
    move() {
      const moved = Math.min(1000, left);
      left -= moved;
      return moved;
    },
  });
  assert.equal(left, 4000, "a second's worth at once");
  await clock.pass(2);
  assert.ok(left >= 2000 && left < 4000, `${left} left after two seconds`);
  await clock.pass(5);
  assert.equal(left, 0);
  await clock.pass(5);
  let late = 1;
  share.enter({ move: () => late-- });
  assert.ok(late < 1, "who comes when nobody waits is served at once");
});

test("who leaves is passed over, and nobody is served after the end", async () => {
  const clock = new FakeClock();
  const share = new FairShare(clock, 1000);
  const moved = { first: 0, second: 0 };
  const turn = (name: keyof typeof moved) => ({
    move() {
      moved[name] += 1000;
      return 1000;
    },
  });
  const [first, second] = [turn("first"), turn("second")];
  share.enter(first);
  share.enter(second);
  share.leave(first);
  await clock.pass(5);
  assert.equal(moved.first, 1000);
  assert.ok(moved.second >= 4000);
  share.stop();
  const before = moved.second;
  await clock.pass(5);
  assert.equal(moved.second, before);
});

test("a bucket is open with the last byte, and closed without", () => {
  const clock = new FakeClock();
  const bucket = new TokenBucket(clock, 1000);
  bucket.take(999);
  assert.equal(bucket.isOpen, true);
  assert.equal(bucket.wait, 0);
  bucket.take(1);
  assert.equal(bucket.isOpen, false);
  assert.equal(bucket.wait, 1);
  bucket.bytesPerSecond = 10;
  assert.equal(bucket.bytesPerSecond, 10);
  assert.equal(bucket.wait, 100);
});
