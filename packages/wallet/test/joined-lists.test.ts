/** Lists one after the other, as one that is read like each of them. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { joined, Selected } from "../src/packed/records.ts";

const listOf = (...items: readonly number[]) => new Selected(items.length, (index) => items[index]!);

test("lists that are joined have all their items, in order, also where some are empty", () => {
  for (const parts of [
    [],
    [[]],
    [[1]],
    [[1, 2], [3]],
    [[], [1, 2], [], [], [3, 4, 5], [6], []],
    [[1], [2], [3], [4], [5]],
  ]) {
    const all = joined(parts.map((items) => listOf(...items)));
    assert.equal(all.length, parts.flat().length);
    assert.deepEqual([...all], parts.flat());
  }
});
