import assert from "node:assert/strict";
import { test } from "node:test";
import type { Json } from "../src/json.ts";
import { isShortId } from "../src/server/message-id.ts";

/** Length of the longest text that `place` may have in an id, which counts six characters for each of its own. */
function longestIn(place: (text: string) => Json): number {
  let length = 0;
  while (isShortId(place("a".repeat(length + 1)))) length++;
  return length;
}

test("an id takes 4096 characters at most, with all that a response writes around it", () => {
  assert.equal(
    longestIn((text) => text),
    682,
  );
  // Each list has eight characters, and two for each list that it is in.
  assert.equal(
    longestIn((text) => [text]),
    Math.floor((4096 - 10) / 6),
  );
  assert.equal(
    longestIn((text) => [[[text]]]),
    Math.floor((4096 - 10 - 12 - 14) / 6),
  );
  // Each member of an object has these, too, and its name.
  assert.equal(
    longestIn((text) => ({ id: text })),
    Math.floor((4096 - 10 - (10 + 12)) / 6),
  );
  assert.equal(
    longestIn((text) => ({ id: { c: text } })),
    Math.floor((4096 - 10 - 22 - 12 - (12 + 6)) / 6),
  );
  assert.equal(
    longestIn((text) => [1, true, null, text]),
    Math.floor((4096 - 10 - 3 * 24) / 6),
  );
  for (const id of [0, null, true, "", [], {}]) assert.equal(isShortId(id), true);
});
