import assert from "node:assert/strict";
import { test } from "node:test";
import { matchingTags } from "../src/tag-pattern.ts";

test("a pattern fits tags as a whole", () => {
  const tags = ["red", "blue", "reddish", "a-b", "red"];
  assert.deepEqual(matchingTags("r.*", tags), new Set(["red", "reddish"]));
  assert.deepEqual(matchingTags("red|blue", tags), new Set(["red", "blue"]));
  assert.deepEqual(matchingTags("a\\-b", tags), new Set(["a-b"]));
  assert.deepEqual(matchingTags("e", tags), new Set());
});

test("a pattern that is none, is too long or would take for ever fits nothing", () => {
  for (const pattern of ["(", "*", "a".repeat(257)]) assert.equal(matchingTags(pattern, ["a"]), undefined);
  assert.equal(matchingTags("(a+)+b", ["a".repeat(60)]), undefined);
});
