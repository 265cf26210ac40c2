import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate } from "node:timers/promises";
import { forEachSliced, SHARED_SLICE_MS, SharedTurns, TimeSlice } from "../src/index.ts";

test("of those that wait one goes on in each turn of the event loop, in the order in which they came", async () => {
  const turns = new SharedTurns();
  const served: string[] = [];
  for (const name of ["first", "second", "third"]) void turns.next().then(() => served.push(name));
  assert.deepEqual(served, []);
  for (const expected of [["first"], ["first", "second"], ["first", "second", "third"]]) {
    await setImmediate();
    assert.deepEqual(served, expected);
  }
});

test("works that share turns have the time of one slice in each", async (t) => {
  let nowMs = 5000;
  t.mock.method(performance, "now", () => nowMs);
  const turns = new SharedTurns();
  /** What was done in each turn of the event loop. */
  const done: string[][] = [[]];
  const work = (name: string) =>
    forEachSliced(
      [1, 2, 3],
      (i) => {
        nowMs += SHARED_SLICE_MS / 2;
        done.at(-1)!.push(`${name}${i}`);
      },
      { turns },
    );
  const works = Promise.all([work("a"), work("b")]);
  for (let i = 0; i < 3; i++) {
    await setImmediate();
    done.push([]);
  }
  await works;
  assert.deepEqual(done, [["a1", "a2", "b1", "a3"], ["b2", "b3"], [], []]);
});

test("a slice that begins in a turn whose time is used is over, and in the next it is not", async (t) => {
  let nowMs = 5000;
  t.mock.method(performance, "now", () => nowMs);
  const turns = new SharedTurns();
  const slice = new TimeSlice({ turns });
  nowMs += SHARED_SLICE_MS - 0.5;
  assert.equal(slice.isOver, false);
  slice.end();
  assert.equal(turns.usedMs, SHARED_SLICE_MS - 0.5);
  const other = new TimeSlice({ turns });
  assert.equal(other.isOver, false);
  nowMs += 0.5;
  assert.equal(other.isOver, true);
  assert.equal(new TimeSlice({ turns: new SharedTurns() }).isOver, false);
  const paused = other.yield();
  assert.equal(turns.usedMs, SHARED_SLICE_MS);
  await paused;
  assert.equal(turns.usedMs, 0);
  assert.equal(other.isOver, false);
});
