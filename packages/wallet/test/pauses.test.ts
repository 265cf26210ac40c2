/** Long loops let everything else run now and then, however fast they are. */
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { chosen } from "../src/file/cache-items.ts";
import { placesToWrite } from "../src/file/places-to-write.ts";
import { OutputBook } from "../src/outputs/output-book.ts";
import { reserveOf } from "../src/proofs/reserve-outputs.ts";
import { placesWhere } from "../src/transfer/candidates.ts";
import { turnsDuring } from "./loop-turns.ts";
import { ledgerOf } from "./many-outputs.ts";

/** Turns of the event loop that some work lets pass, where each look at the clock finds the time of a slice over. */
async function turnsOfSlices<T>(
  t: TestContext,
  work: () => T | Promise<T>,
): Promise<{ turns: number; result: T }> {
  let nowMs = 0;
  t.mock.method(performance, "now", () => {
    nowMs += 1000;
    return nowMs;
  });
  try {
    return await turnsDuring(work);
  } finally {
    t.mock.restoreAll();
  }
}

const COUNT = 5000;

test("what of a wallet goes into a cache is chosen with a pause every hundred items or so", async (t) => {
  const { result, turns } = await turnsOfSlices(t, () => chosen(COUNT, (index) => index % 2 === 0));
  assert.equal(result.length, COUNT / 2);
  assert.ok(turns >= COUNT / 100, `${turns} turns`);
});

test("what of a wallet goes into a cache is looked at 64 outputs a step, and sorted in as many", async (t) => {
  const turnsFor = async (count: number, isReversed = false) => {
    const { outputs } = ledgerOf({ count, amount: () => 5n, addresses: 1 }).state;
    const book = isReversed ? OutputBook.of([...outputs].reverse()) : outputs;
    const { turns, result } = await turnsOfSlices(t, () => placesToWrite(book));
    assert.equal(result.length, count);
    return turns;
  };
  const none = await turnsFor(0);
  const more = async (count: number, isReversed = false) => (await turnsFor(count, isReversed)) - none;
  assert.deepEqual([await more(63), await more(64), await more(127), await more(128)], [0, 1, 1, 2]);
  // As many more for each doubling of what is in order: 1, 2, 4, 8, 16, 32.
  assert.deepEqual([await more(63, true), await more(64, true)], [0, 7]);
  const { turns } = await turnsOfSlices(t, () => chosen(63, () => true));
  const later = await turnsOfSlices(t, () => chosen(64, () => true));
  assert.deepEqual([later.turns - turns, later.result.length], [1, 64]);
});

test("the outputs of a reserve proof are found with a pause every few hundred", async (t) => {
  const { outputs } = ledgerOf({ count: COUNT, amount: () => 5n, addresses: 3 }).state;
  const { result, turns } = await turnsOfSlices(t, () => reserveOf(outputs, undefined));
  assert.deepEqual([result.provable.length, result.total], [COUNT, 5n * BigInt(COUNT)]);
  assert.ok(turns >= COUNT / 500, `${turns} turns`);
});

test("places for a payment are looked through with a pause every thousand or so", () => {
  const places = Uint32Array.from({ length: COUNT }, (_, place) => place);
  const steps = placesWhere(places, (place) => place % 3 === 0);
  let pauses = 0;
  let step = steps.next();
  for (; step.done !== true; step = steps.next()) pauses++;
  assert.equal(step.value.length, Math.ceil(COUNT / 3));
  assert.ok(pauses >= COUNT / 2000, `${pauses} pauses`);
});
