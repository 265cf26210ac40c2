/** Which outputs are written to the original program's cache, in slices of the event loop. */
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { placesToWrite } from "../src/file/places-to-write.ts";
import type { OutputBook } from "../src/outputs/output-book.ts";

/** A book of outputs at these heights. By its clock a slice is over whenever that is asked. */
function bookOf(t: TestContext, heights: readonly number[]) {
  let nowMs = 0;
  t.mock.method(performance, "now", () => (nowMs += 10));
  const looks = { inTurn: 0, most: 0 };
  const book = {
    count: heights.length,
    at(place: number) {
      looks.inTurn += 1;
      looks.most = Math.max(looks.most, looks.inTurn);
      return { height: heights[place]!, outputIndex: 0 };
    },
  };
  return { book, outputs: book as unknown as OutputBook, looks };
}

/** Begins a work, and runs `inTurn` in each turn of the event loop until it has ended. */
async function besideTurns<T>(begin: () => Promise<T>, inTurn: () => void): Promise<T> {
  let isOver = false;
  const turn = () => {
    if (isOver) return;
    inTurn();
    setImmediate(turn);
  };
  setImmediate(turn);
  try {
    return await begin();
  } finally {
    isOver = true;
  }
}

test("other work has its turn after every 64 outputs that are looked at", async (t) => {
  const { outputs, looks } = bookOf(t, Array<number>(1000).fill(5));
  const places = await besideTurns(
    () => placesToWrite(outputs),
    () => {
      looks.inTurn = 0;
    },
  );
  assert.deepEqual([...places], [...Array(1000).keys()]);
  assert.equal(looks.most, 64);
});

test("outputs out of order are sorted by height in as many turns", async (t) => {
  const heights = Array.from({ length: 1000 }, (_, i) => Math.floor((999 - i) / 2));
  const { outputs } = bookOf(t, heights);
  let turns = 0;
  const places = await besideTurns(
    () => placesToWrite(outputs),
    () => {
      turns += 1;
    },
  );
  const sorted = [...heights.keys()].sort((a, b) => heights[a]! - heights[b]! || a - b);
  assert.deepEqual([...places], sorted);
  // Ten times runs of twice the length are merged, from one output to all.
  assert.ok(turns >= 11 * 15 && turns <= 12 * 15, `${turns} turns`);
});

test("outputs that are removed in a pause are not looked at", async (t) => {
  const { book, outputs } = bookOf(t, Array<number>(200).fill(5));
  const places = await besideTurns(
    () => placesToWrite(outputs),
    () => {
      book.count = 70;
    },
  );
  assert.deepEqual([...places], [...Array(70).keys()]);
});
