/** Who asks for owners while a query is under way shares the next one. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { OwnerLookup } from "../src/postgres/owner-lookup.ts";

test("all who ask at once share a query, and none is under way beside another", async () => {
  const reads: string[][] = [];
  let underWay = 0;
  const { ownerOf } = new OwnerLookup(async (names) => {
    assert.equal(underWay++, 0);
    reads.push([...names]);
    await new Promise((resolve) => setImmediate(resolve));
    underWay--;
    return new Map([["w1", "a"]]);
  });
  const first = ownerOf("w0");
  await new Promise((resolve) => process.nextTick(resolve));
  const others = Array.from({ length: 100 }, (_, i) => ownerOf(`w${i % 3}`));
  assert.equal(await first, undefined);
  assert.deepEqual((await Promise.all(others)).slice(0, 3), [undefined, "a", undefined]);
  assert.deepEqual(reads, [["w0"], ["w0", "w1", "w2"]]);
});

test("a query that fails fails those who share it, and no others", async () => {
  let isAway = true;
  const { ownerOf } = new OwnerLookup(async () => {
    if (isAway) throw new Error("away");
    return new Map([["w", "a"]]);
  });
  await assert.rejects(ownerOf("w"), /away/);
  isAway = false;
  assert.equal(await ownerOf("w"), "a");
});
