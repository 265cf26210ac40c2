/** Long loops pause after exactly so many items: neither never nor at each. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate as nextTurn } from "node:timers/promises";
import { cacheKeyOf, type OriginalCache, readOriginalCache } from "../src/file/original-cache.ts";
import { poolOf } from "../src/transfer/output-pool.ts";
import { smallestInput } from "../src/transfer/select.ts";
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

test("the smallest input of a pool is looked for with a pause every 1,024 outputs", () => {
  const outputs = [...ledgerOf({ count: 2048, amount: (i) => BigInt(5000 - i), addresses: 1 }).state.outputs];
  const pausesFor = (count: number) => {
    const steps = smallestInput(poolOf(outputs.slice(0, count)), []);
    let pauses = 0;
    let step = steps.next();
    for (; step.done !== true; step = steps.next()) pauses++;
    assert.equal(step.value, count - 1);
    return pauses;
  };
  assert.deepEqual([1, 1023, 1024, 2047, 2048].map(pausesFor), [0, 0, 1, 1, 2]);
});
