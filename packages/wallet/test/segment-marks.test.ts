import assert from "node:assert/strict";
import { randomFillSync } from "node:crypto";
import { test } from "node:test";
import { KeyIndex } from "../src/outputs/key-index.ts";
import { HashSegment, SEGMENT_PLACES } from "../src/packed/hash-segment.ts";
import { bytes } from "./many-outputs.ts";

test("an index looks for a key into few of many segments", (t) => {
  const keys = new Map<number, Uint8Array>();
  const index = new KeyIndex((place) => ({ bytes: keys.get(place)!, at: 0 }), randomFillSync);
  const count = 70;
  for (let number = 0; number < count; number++) {
    for (let i = 0; i < 20; i++) {
      const place = number * SEGMENT_PLACES + i * 100;
      keys.set(place, bytes(32));
      index.add(place);
    }
    index.makeSegment(number);
  }
  for (const [place, key] of keys) assert.equal(index.find(key), place);
  const looks = t.mock.method(HashSegment.prototype, "has");
  for (let i = 0; i < 100; i++) assert.equal(index.find(bytes(32)), undefined);
  assert.ok(looks.mock.callCount() < 100, `${looks.mock.callCount()} looks for 100 keys`);
  index.remove(41 * SEGMENT_PLACES);
  for (const [place, key] of keys)
    assert.equal(index.find(key), place === 41 * SEGMENT_PLACES ? undefined : place);
});
