import assert from "node:assert/strict";
import { test } from "node:test";
import { MadeUpKeys } from "../src/scale/made-up-keys.ts";

test("made-up keys ascend, and are those of their numbers, each once", () => {
  for (const count of [1, 2, 3, 100, 1000]) {
    const keys = new MadeUpKeys(7, count);
    const ascending = [...keys.ascending()];
    assert.equal(ascending.length, count);
    assert.equal(new Set(ascending.map(([, number]) => number)).size, count);
    for (const [key, number] of ascending) assert.deepEqual(keys.key(number), key);
    for (const [at, [key]] of ascending.entries())
      assert.ok(at === 0 || Buffer.compare(ascending[at - 1]![0], key) < 0);
  }
});

test("made-up keys of neighbours lie anywhere, and depend on their label", () => {
  const keys = new MadeUpKeys(1, 10_000);
  const bytes = Array.from({ length: 2560 }, (_, number) => keys.key(number)[0]!);
  const counts = new Map<number, number>();
  for (const first of bytes) counts.set(first, (counts.get(first) ?? 0) + 1);
  assert.ok(counts.size > 250 && Math.max(...counts.values()) < 40);
  assert.notDeepEqual(new MadeUpKeys(2, 10_000).key(5), keys.key(5));
});
