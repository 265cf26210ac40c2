import assert from "node:assert/strict";
import { test } from "node:test";
import { whenFailed, whenOver, whenReady } from "../src/index.ts";

const failure = new Error("it failed");
const fails = (): never => {
  throw failure;
};

test("what is there goes on at once, what is promised once it is there", async () => {
  assert.equal(
    whenReady(2, (value) => value + 1),
    3,
  );
  const promise = whenReady(Promise.resolve(2), (value) => value + 1);
  assert.ok(promise instanceof Promise);
  assert.equal(await promise, 3);
});

test("a failure is answered in the way in which it came, and nothing else is", async () => {
  const seen: unknown[] = [];
  const onError = (error: unknown) => {
    seen.push(error);
    return -1;
  };
  assert.equal(
    whenFailed(() => 2, onError),
    2,
  );
  assert.equal(await whenFailed(async () => 2, onError), 2);
  assert.deepEqual(seen, []);
  assert.equal(whenFailed(fails, onError), -1);
  const promise = whenFailed<number>(async () => fails(), onError);
  assert.ok(promise instanceof Promise);
  assert.equal(await promise, -1);
  assert.deepEqual(seen, [failure, failure]);
});

test("the end is told once the work is over, however that ends", async () => {
  let ends = 0;
  const end = () => {
    ends += 1;
  };
  assert.equal(
    whenOver(() => 2, end),
    2,
  );
  assert.equal(ends, 1);
  assert.throws(() => whenOver(fails, end), failure);
  assert.equal(ends, 2);
  let finish = (_value: number): void => {};
  const work = new Promise<number>((resolve) => {
    finish = resolve;
  });
  const over = whenOver(() => work, end);
  await Promise.resolve();
  assert.equal(ends, 2, "it is still under way");
  finish(5);
  assert.equal(await over, 5);
  assert.equal(ends, 3);
  await assert.rejects(async () => await whenOver(async () => fails(), end), failure);
  assert.equal(ends, 4);
});
