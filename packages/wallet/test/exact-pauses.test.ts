/** Long loops pause after exactly so many items: neither never nor at each. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate as nextTurn } from "node:timers/promises";
import { cacheKeyOf, type OriginalCache, readOriginalCache } from "../src/file/original-cache.ts";
import { FreePlaces } from "../src/outputs/free-places.ts";
import type { OutputPage } from "../src/outputs/output-page.ts";
import type { OwnedOutput } from "../src/outputs/owned-output.ts";
import { OutputsMoved, outputsAt, outputsFrom } from "../src/outputs/walk.ts";
import { PlaceIndex } from "../src/packed/place-index.ts";
import { placesWhere } from "../src/transfer/candidates.ts";
import { poolOf } from "../src/transfer/output-pool.ts";
import { Preferable } from "../src/transfer/preferable.ts";
import { preferredInputs, smallestInput } from "../src/transfer/select.ts";
import { cacheImage } from "./cache-image.ts";
import { turnsDuring } from "./loop-turns.ts";
import { ledgerOf } from "./many-outputs.ts";

const filled = (byte: number, size = 32) => new Uint8Array(size).fill(byte);

/** A cache with nothing in it but notes. */
function cacheWith(notes: number): OriginalCache {
  const lists = [
    ...["blockIds", "transfers", "keyImages", "unconfirmed", "payments", "txKeys", "confirmed"],
    ...["poolPayments", "oneTimeKeys", "addressBook", "seenInPool", "seenInPoolBefore", "subaddresses"],
    ...["labels", "additionalTxKeys", "attributes", "transactionsOnDevice", "coldKeyImages"],
  ];
  return {
    ...Object.fromEntries(lists.map((name) => [name, []])),
    version: 0,
    blocks: { version: 0, offset: 0n, genesis: filled(2) },
    address: { spendPublic: filled(3), viewPublic: filled(4) },
    notes: Array.from({ length: notes }, (_, i) => ({
      pairSize: 2,
      key: filled(i % 256),
      value: filled(1, 1),
    })),
    accountTags: { pairSize: 2, key: [], value: [] },
    ringsSaved: 1,
    lastBlockReward: 3n,
    lastDeviceSync: 0n,
    rpcClientKey: filled(0),
  } as unknown as OriginalCache;
}

test("a cache of the original is read with a pause every 200 items", async () => {
  const key = cacheKeyOf(filled(1));
  const turnsFor = async (notes: number) => {
    const image = cacheImage(cacheWith(notes), key, filled(9, 8));
    await nextTurn();
    const { turns, result } = await turnsDuring(() => readOriginalCache(image, key));
    assert.equal(result.notes.length, notes);
    return turns;
  };
  const none = await turnsFor(0);
  const more = async (notes: number) => (await turnsFor(notes)) - none;
  assert.deepEqual([await more(199), await more(200), await more(399), await more(400)], [0, 1, 1, 2]);
});

/** How often a walk pauses, and what it returns. */
function pausesOf<T>(steps: Iterator<unknown, T>): { pauses: number; result: T } {
  let pauses = 0;
  let step = steps.next();
  for (; step.done !== true; step = steps.next()) pauses++;
  return { pauses, result: step.value };
}

const owned = (count: number, amount: (i: number) => bigint, addresses = 1): OwnedOutput[] => [
  ...ledgerOf({ count, amount, addresses }).state.outputs,
];

test("the smallest input of a pool is looked for with a pause every 1,024 outputs", () => {
  const outputs = owned(2048, (i) => BigInt(5000 - i));
  const pausesFor = (count: number) => {
    const { pauses, result } = pausesOf(smallestInput(poolOf(outputs.slice(0, count)), []));
    assert.equal(result, count - 1);
    return pauses;
  };
  assert.deepEqual([1, 1023, 1024, 2047, 2048].map(pausesFor), [0, 0, 1, 1, 2]);
});

test("a pair is looked for with a pause at first, and every 1,024 outputs", () => {
  // Each has an address of its own, so that none makes a pair.
  const outputs = owned(1024, () => 600n, 1024);
  const pausesFor = (count: number) => {
    const { pauses, result } = pausesOf(preferredInputs(Preferable.of(outputs.slice(0, count)), 1000n));
    assert.deepEqual(result, []);
    return pauses;
  };
  assert.deepEqual([17, 1023, 1024].map(pausesFor), [1, 1, 2]);
});

test("places of outputs are chosen with a pause every 1,024", () => {
  const pausesFor = (count: number) =>
    pausesOf(placesWhere(Uint32Array.from({ length: count }), () => true)).pauses;
  assert.deepEqual([0, 1023, 1024, 2047, 2048].map(pausesFor), [0, 0, 1, 1, 2]);
});

test("free places are found with a pause at each page, and sorted with one every 16,384", () => {
  const { outputs } = ledgerOf({ count: 16_384, amount: () => 5n, addresses: 3 }).state;
  const pages = (outputs as unknown as { pages: OutputPage[] }).pages;
  const pausesFor = (count: number) => pausesOf(FreePlaces.of(pages, count)).pauses;
  assert.deepEqual([1, 1024, 1025, 16_383, 16_384].map(pausesFor), [1, 1, 2, 16, 17]);
});

test("an index of places is made with two pauses for each 1,024", () => {
  const pausesFor = (count: number) => {
    const index = new PlaceIndex({ hashOf: (place) => place, isSame: (a, b) => a === b });
    return pausesOf(index.addAll(count)).pauses;
  };
  assert.deepEqual([0, 1, 1024, 1025, 2048, 2049].map(pausesFor), [0, 2, 2, 4, 4, 6]);
});

test("outputs are walked over 64 at a time, whether by their places or all from one on", () => {
  const { outputs } = ledgerOf({ count: 200, amount: (i) => BigInt(i), addresses: 1 }).state;
  const amountsOf = (walk: Iterable<readonly OwnedOutput[]>) =>
    [...walk].map((part) => part.map(({ amount }) => Number(amount)));
  const range = (from: number, to: number) => Array.from({ length: to - from }, (_, i) => from + i);
  for (const [count, ends] of [
    [0, []],
    [63, [63]],
    [64, [64]],
    [65, [64, 65]],
    [129, [64, 128, 129]],
  ] as const) {
    const parts = ends.map((end, i) => range(64 * i, end));
    assert.deepEqual(amountsOf(outputsAt(outputs, range(0, count))), parts);
    assert.deepEqual(amountsOf(outputsFrom(outputs, 0, count)), parts);
    const later = parts.map((part) => part.map((amount) => amount + 7));
    assert.deepEqual(amountsOf(outputsFrom(outputs, 7, 7 + count)), later);
  }
  assert.deepEqual(amountsOf(outputsAt(outputs, [9, 3, 150])), [[9, 3, 150]]);
  const [walk, other] = [outputsAt(outputs, range(0, 65)), outputsFrom(outputs, 0, 65)];
  walk.next();
  other.next();
  outputs.truncate(199);
  for (const moved of [walk, other]) assert.throws(() => moved.next(), OutputsMoved);
});
