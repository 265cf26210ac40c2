/** Maps and sets that have no memory of their own while they are empty. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { LazyMap, LazySet } from "../src/packed/lazy-map.ts";

test("a map answers as one of JavaScript's", () => {
  const map = new LazyMap<string, number | undefined>();
  const isAs = (entries: readonly (readonly [string, number | undefined])[]) => {
    assert.deepEqual([...map], entries);
    assert.deepEqual([...map.keys()], [...new Map(entries).keys()]);
    assert.deepEqual([...map.values()], [...new Map(entries).values()]);
    assert.equal(map.size, entries.length);
    for (const key of ["a", "b", "c"]) {
      assert.equal(map.has(key), new Map(entries).has(key));
      assert.equal(map.get(key), new Map(entries).get(key));
    }
  };
  isAs([]);
  assert.equal(map.delete("a"), false);
  map.clear();
  assert.equal(map.set("a", 1).set("b", undefined), map);
  isAs([
    ["a", 1],
    ["b", undefined],
  ]);
  assert.deepEqual([map.delete("a"), map.delete("a"), map.delete("c")], [true, false, false]);
  isAs([["b", undefined]]);
  map.set("c", 3).clear();
  isAs([]);
  map.set("a", 4);
  assert.equal(map.delete("a"), true);
  isAs([]);
});

test("a set answers as one of JavaScript's, and gives its values away", () => {
  const set = new LazySet<string>();
  const isAs = (...values: string[]) => {
    assert.deepEqual([...set], values);
    assert.equal(set.size, values.length);
    for (const value of ["a", "b", "c"]) assert.equal(set.has(value), values.includes(value));
  };
  isAs();
  assert.equal(set.delete("a"), false);
  set.clear();
  assert.deepEqual([...set.take()], []);
  assert.equal(set.add("a").add("b").add("a"), set);
  isAs("a", "b");
  assert.deepEqual([set.delete("a"), set.delete("a"), set.delete("c")], [true, false, false]);
  isAs("b");
  const taken = set.add("c").take();
  isAs();
  set.add("a");
  assert.deepEqual([...taken], ["b", "c"]);
  isAs("a");
  set.clear();
  isAs();
});

test("an iteration sees what comes and goes until all is gone, and nothing of what comes then", () => {
  const endings: readonly ((of: { clear(): void; delete(value: string): boolean }) => void)[] = [
    (each) => each.clear(),
    (each) => ["a", "b", "c"].map((value) => each.delete(value)),
  ];
  for (const end of endings) {
    const [map, set] = [new LazyMap<string, number>().set("a", 1), new LazySet<string>().add("a")];
    const walks = [map.keys(), map[Symbol.iterator](), set[Symbol.iterator]()];
    for (const walk of walks) assert.equal(walk.next().done, false);
    map.set("b", 2).set("c", 3);
    set.add("b").add("c");
    assert.deepEqual(
      walks.map((walk) => walk.next().value),
      ["b", ["b", 2], "b"],
    );
    end(map);
    end(set);
    map.set("d", 4);
    set.add("d");
    for (const walk of walks) assert.equal(walk.next().done, true);
    assert.deepEqual([[...map.keys()], [...set]], [["d"], ["d"]]);
  }
});
