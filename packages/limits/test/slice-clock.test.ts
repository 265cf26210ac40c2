/** Slices by a clock that goes when the work does. */
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { forEachSliced, runSliced, SLICE_MS, TimeSlice } from "../src/index.ts";

/** Sets the time in milliseconds. */
function clockOf(t: TestContext) {
  let nowMs = 5000;
  t.mock.method(performance, "now", () => nowMs);
  return {
    pass: (ms: number) => {
      nowMs += ms;
    },
  };
}

test("a slice is over once its time is, by default after three milliseconds", (t) => {
  const clock = clockOf(t);
  for (const [options, ms] of [
    [{}, 3],
    [{ sliceMs: 20 }, 20],
  ] as const) {
    const slice = new TimeSlice(options);
    clock.pass(ms - 1);
    assert.equal(slice.isOver, false);
    clock.pass(1);
    assert.equal(slice.isOver, true);
  }
  assert.equal(SLICE_MS, 3);
});

test("what is done at a pause comes in order, and the next slice begins when it ends", async (t) => {
  const clock = clockOf(t);
  const done: unknown[] = [];
  const slice = new TimeSlice({
    beforeYield: () => done.push("before"),
    onWork: (ms) => done.push(ms),
    pause: async () => {
      done.push("pause");
      clock.pass(100);
    },
    afterYield: () => done.push("after"),
  });
  clock.pass(7);
  await slice.yield();
  assert.deepEqual(done, ["before", 7, "pause", "after"]);
  assert.equal(slice.isOver, false);
  clock.pass(2);
  slice.end();
  assert.equal(done.at(-1), 2);
});

test("time in which others work is not that of the slice", async (t) => {
  const clock = clockOf(t);
  const slice = new TimeSlice();
  clock.pass(1);
  const others = async () => {
    clock.pass(50);
    return "their result";
  };
  const waiting = Promise.resolve().then(others);
  assert.equal(await slice.wait(waiting), "their result");
  assert.equal(slice.isOver, false);
  clock.pass(2);
  assert.equal(slice.isOver, true);
});

test("the work of each slice is told, the last one included, however it ends", async (t) => {
  const clock = clockOf(t);
  const told: number[] = [];
  const options = { onWork: (ms: number) => told.push(ms), pause: async () => clock.pass(1000) };
  const work = (ms: number) => clock.pass(ms);
  await forEachSliced([1, 1, 2, 5, 1], work, options);
  assert.deepEqual(told.splice(0), [4, 5, 1]);
  forEachSliced([1, 1], work, options);
  assert.deepEqual(told.splice(0), [2], "at once");
  const failsAt = (index: number) =>
    (function* () {
      for (let i = 0; ; i++) {
        work(2);
        if (i === index) throw new RangeError("no");
        yield;
      }
    })();
  assert.throws(() => runSliced(failsAt(0), options), RangeError);
  assert.deepEqual(told.splice(0), [2]);
  await assert.rejects(async () => await runSliced(failsAt(3), options), RangeError);
  assert.deepEqual(told.splice(0), [4, 4]);
});

test("work that is aborted in a pause is told once, and what follows the pause is not done", async (t) => {
  const clock = clockOf(t);
  const told: number[] = [];
  const caller = new AbortController();
  let pausesEnded = 0;
  const options = {
    onWork: (ms: number) => told.push(ms),
    pause: async () => caller.abort(new Error("the caller has left")),
    afterYield: () => {
      pausesEnded += 1;
    },
    signal: caller.signal,
  };
  const run = async () => await forEachSliced([4, 4], (ms) => clock.pass(ms), options);
  await assert.rejects(run, /the caller has left/);
  assert.deepEqual([told, pausesEnded], [[4], 0]);
});
