import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate } from "node:timers/promises";
import type { MaybePromise } from "../src/maybe-promise.ts";
import { forEachSliced, mapSliced, runSliced } from "../src/time-slice.ts";

/** Counts the turns of the event loop while `work` runs. */
async function turnsDuring(work: () => MaybePromise<unknown>): Promise<number> {
  let turns = 0;
  let isDone = false;
  const ended = Promise.resolve(work()).finally(() => {
    isDone = true;
  });
  while (!isDone) {
    await setImmediate();
    turns++;
  }
  await ended;
  return turns;
}

test("a slice of no length yields before every item, a long one never", async () => {
  const items = Array.from({ length: 50 }, (_, i) => i);
  const seen: number[] = [];
  const sliced = await turnsDuring(() => forEachSliced(items, (item) => seen.push(item), { sliceMs: 0 }));
  assert.deepEqual(seen, items);
  assert.ok(sliced >= 50, `${sliced} turns`);
  let pauses = 0;
  const whole = { sliceMs: Number.POSITIVE_INFINITY, beforeYield: () => pauses++ };
  assert.deepEqual(
    await mapSliced(items, (item) => 2 * item, whole),
    items.map((item) => 2 * item),
  );
  assert.equal(pauses, 0);
});

test("aborted work stops at its next pause, and a generator cleans up", async () => {
  const caller = new AbortController();
  let steps = 0;
  let isCleanedUp = false;
  function* endless(): Generator<void, void> {
    try {
      for (;;) {
        if (++steps === 3) caller.abort(new Error("the caller has left"));
        yield;
      }
    } finally {
      isCleanedUp = true;
    }
  }
  const run = async () => runSliced(endless(), { sliceMs: 0, signal: caller.signal });
  await assert.rejects(run, /the caller has left/);
  assert.equal(steps, 3);
  assert.ok(isCleanedUp);
});

test("a generator's value is returned, and its error thrown, at once where one slice is enough", () => {
  function* counts(): Generator<void, number> {
    yield;
    return 7;
  }
  assert.equal(runSliced(counts()), 7);
  // biome-ignore lint/correctness/useYield: it fails before it could
  function* fails(): Generator<void, number> {
    throw new RangeError("no");
  }
  assert.throws(() => runSliced(fails()), RangeError);
});

test("an error after the first slice rejects", async () => {
  function* fails(): Generator<void, number> {
    yield;
    throw new RangeError("no");
  }
  await assert.rejects(async () => runSliced(fails(), { sliceMs: 0 }), RangeError);
});
