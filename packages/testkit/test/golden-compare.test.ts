import assert from "node:assert/strict";
import { test } from "node:test";
import { compareValues } from "../src/golden/compare.ts";

const strict = { volatile: [], translate: (text: string) => text };
const kinds = (...args: Parameters<typeof compareValues>) =>
  compareValues(...args).map(({ kind, path }) => `${kind} ${path}`);

test("equal answers have no difference", () => {
  assert.deepEqual(kinds({ a: [1, { b: null }], c: 5n }, { c: 5n, a: [1, { b: null }] }, strict), []);
});

test("a missing key, an extra key, another type, value or length is found where it is", () => {
  const recorded = { a: 1, b: [{ c: "x" }], d: 2, e: [1] };
  const actual = { a: "1", b: [{ c: "y" }], e: [1, 2], f: 0 };
  assert.deepEqual(kinds(recorded, actual, strict), [
    "type .a",
    "value .b[].c",
    "missing .d",
    "length .e",
    "extra .f",
  ]);
});

test("a volatile path frees the value, not the type", () => {
  const options = { ...strict, volatile: [".a", ".b[].c"] };
  assert.deepEqual(kinds({ a: 1, b: [{ c: 1 }] }, { a: 2, b: [{ c: 2 }] }, options), []);
  assert.deepEqual(kinds({ a: 1 }, { a: "1" }, options), ["type .a"]);
});

test("a value of this run stands for the recorded one", () => {
  const options = { ...strict, translate: (text: string) => text.replace("old", "new") };
  assert.deepEqual(kinds({ a: "old id" }, { a: "new id" }, options), []);
});
