/** Through which connections transactions go that are not public yet. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { createStemMap } from "../src/peers/stem-map.ts";

/** Always the first choice. */
const first = (size: number) => new Uint8Array(size);

test("two connections share the sources, and each source keeps its own", () => {
  const map = createStemMap(["a", "b", "c"], first);
  assert.equal(map.size, 2);
  const sources = ["", "1", "2", "3", "4"];
  const stems = sources.map(map.stemOf);
  assert.deepEqual(stems, ["a", "b", "a", "b", "a"]);
  assert.deepEqual(sources.map(map.stemOf), stems);
});

test("with one connection all go through it, and with none nobody does", () => {
  const map = createStemMap(["a"], first);
  assert.equal(map.size, 1);
  assert.deepEqual([map.stemOf(""), map.stemOf("1")], ["a", "a"]);
  map.update(["b"]);
  assert.deepEqual([map.size, map.stemOf("1"), map.stemOf("2")], [1, "b", "b"]);
  map.update([]);
  assert.deepEqual([map.size, map.stemOf(""), map.stemOf("1")], [0, undefined, undefined]);
  map.update(["c", "d", "e"]);
  assert.equal(map.size, 2);
  assert.deepEqual([map.stemOf(""), map.stemOf("1"), map.stemOf("2")], ["d", "c", "c"]);
});

test("a connection that closes is replaced by one that is not in use, and its sources follow", () => {
  const map = createStemMap(["a", "b"], first);
  const sources = ["1", "2", "3", "4"];
  assert.deepEqual(sources.map(map.stemOf), ["a", "b", "a", "b"]);
  map.update(["b", "c"]);
  assert.deepEqual(sources.map(map.stemOf), ["c", "b", "c", "b"]);
  map.update(["b", "c", "d"]);
  assert.deepEqual(sources.map(map.stemOf), ["c", "b", "c", "b"]);
  map.update(["d"]);
  assert.equal(map.size, 1);
  assert.deepEqual(sources.map(map.stemOf), ["d", "d", "d", "d"]);
});

test("who has lost its connection no longer counts for it", () => {
  const map = createStemMap(["a", "b"], first);
  assert.deepEqual(["1", "2", "3", "4"].map(map.stemOf), ["a", "b", "a", "b"]);
  map.update(["b"]);
  assert.deepEqual([map.stemOf("1"), map.stemOf("3")], ["b", "b"]);
  map.update(["b", "c"]);
  // Four are with "b", none with "c".
  assert.deepEqual(["5", "6", "7", "8"].map(map.stemOf), ["c", "c", "c", "c"]);
  assert.deepEqual(["9", "10"].map(map.stemOf), ["c", "b"]);
});
