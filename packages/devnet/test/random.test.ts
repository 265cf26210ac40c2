/** Bytes that follow from a seed. */
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { test } from "node:test";
import { createSeededRandom } from "../src/random.ts";

const hashes = (label: string, ...numbers: readonly number[]): Uint8Array =>
  Uint8Array.from(
    Buffer.concat(numbers.map((number) => createHash("sha256").update(`${label} ${number}`).digest())),
  );

test("the bytes are hashes of the seed and a counter, as many as needed, and come again from a position", () => {
  const seeded = createSeededRandom("a");
  assert.deepEqual(seeded.random(32), hashes("a", 0));
  assert.deepEqual(seeded.random(33), hashes("a", 1, 2).subarray(0, 33));
  assert.equal(seeded.position, 3);
  assert.deepEqual([seeded.random(0).length, seeded.position], [0, 3]);
  seeded.position = 1;
  assert.deepEqual(seeded.random(64), hashes("a", 1, 2));
  assert.notDeepEqual(createSeededRandom("b").random(32), hashes("a", 0));
});
