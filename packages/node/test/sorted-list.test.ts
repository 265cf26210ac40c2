import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { createSortedList } from "../src/pool/sorted-list.ts";

const ascending = (a: number, b: number) => a - b;

test("a sorted list holds what was added and not removed, in order", () => {
  const changes = fc.array(fc.tuple(fc.boolean(), fc.nat(3000)), { maxLength: 4000, size: "max" });
  fc.assert(
    fc.property(fc.uniqueArray(fc.nat(3000), { maxLength: 1500 }), changes, (first, then) => {
      const list = createSortedList(ascending, first);
      const expected = new Set(first);
      for (const [isAdded, value] of then) {
        if (isAdded && !expected.has(value)) list.add(value);
        if (!isAdded) list.remove(value);
        if (isAdded) expected.add(value);
        else expected.delete(value);
      }
      const sorted = [...expected].sort(ascending);
      assert.deepEqual(list.toArray(), sorted);
      assert.deepEqual([...list], sorted);
      assert.deepEqual([...list.backwards()], sorted.reverse());
    }),
    { numRuns: 30 },
  );
});

test("a change of a long list costs few comparisons", () => {
  let comparisons = 0;
  const compare = (a: number, b: number) => {
    comparisons++;
    return a - b;
  };
  const items = Array.from({ length: 100_000 }, (_, i) => 2 * i);
  const list = createSortedList(compare, items);
  comparisons = 0;
  for (let i = 0; i < 1000; i++) {
    list.add(2 * i + 1);
    list.remove(199_998 - 2 * i);
  }
  assert.ok(comparisons < 2000 * 30, `${comparisons} comparisons`);
});
