import assert from "node:assert/strict";
import { test } from "node:test";
import { IncomingBytes } from "../src/incoming-bytes.ts";

/** Bytes whose value says where they are. */
const pattern = (length: number) =>
  Buffer.from(Uint8Array.from({ length }, (_, i) => (i * 31 + (i >> 8)) & 0xff));

/** Sizes of pieces, in turns. */
const sizesOfPieces = [[1], [1000], [65_536], [70_001], [2_000_000], [100, 20_000, 15_000, 16_384]];

for (const length of [0, 1, 65_535, 65_536, 65_537, 262_144, 1_000_003])
  for (const sizes of sizesOfPieces) {
    if (length / sizes[0]! > 100_000) continue;
    test(`${length} bytes in pieces of ${sizes.join(", ")} come together as they were`, () => {
      const bytes = pattern(length);
      const incoming = new IncomingBytes(length);
      for (let at = 0, turn = 0; at < length; turn++) {
        const size = sizes[turn % sizes.length]!;
        assert.equal(incoming.takeWhole(), undefined);
        const rest = incoming.add(bytes.subarray(at, at + size));
        assert.equal(rest.length, 0);
        at = Math.min(length, at + size);
        assert.equal(incoming.filled, at);
      }
      assert.ok(incoming.takeWhole()?.equals(bytes));
    });
  }

test("what follows the last byte is returned", () => {
  const incoming = new IncomingBytes(100_000);
  assert.equal(incoming.add(pattern(99_999)).length, 0);
  assert.deepEqual([...incoming.add(Buffer.from([1, 2, 3]))], [2, 3]);
  assert.deepEqual([...incoming.add(Buffer.from([4]))], [4]);
  assert.equal(incoming.takeWhole()?.at(-1), 1);
});

test("no piece of a long one has more copied than itself and one segment", (t) => {
  const length = 8_000_000;
  const incoming = new IncomingBytes(length);
  const piece = pattern(50_000);
  let bytesSet = 0;
  const original = Uint8Array.prototype.set;
  t.mock.method(Uint8Array.prototype, "set", function (this: Uint8Array, from: Uint8Array, at?: number) {
    bytesSet += from.length;
    original.call(this, from, at);
  });
  for (let at = 0; at < length; at += piece.length) {
    bytesSet = 0;
    incoming.add(piece);
    if (incoming.filled === length) incoming.takeWhole();
    assert.ok(bytesSet <= 2 * piece.length + 65_536, `${bytesSet} at ${at}`);
  }
});

test("memory is taken for a quarter of what is announced at most before that has arrived", (t) => {
  const taken = t.mock.method(Buffer, "allocUnsafeSlow");
  const incoming = new IncomingBytes(100_000_000);
  const piece = pattern(1000);
  for (let i = 0; i < 24_000; i++) incoming.add(piece);
  const sum = taken.mock.calls.reduce((total, call) => total + (call.arguments[0] as number), 0);
  assert.ok(sum < 25_000_000, `${sum} bytes`);
});

// Closes: a few bytes of each long chunk that keep all of it in memory, uncounted.
test("long pieces are kept without a copy, but not the rest of the memory that they are a part of", (t) => {
  const taken = t.mock.method(Buffer, "allocUnsafeSlow");
  const incoming = new IncomingBytes(100_000_000);
  const piece = new Uint8Array(16_384);
  for (let i = 0; i < 1000; i++) incoming.add(piece);
  assert.equal(taken.mock.callCount(), 0);
  incoming.add(new Uint8Array(65_536).subarray(40_000));
  assert.equal(taken.mock.callCount(), 1);
  new IncomingBytes(100_000_000).add(new Uint8Array(16_383));
  assert.equal(taken.mock.callCount(), 2, "shorter ones are gathered");
});
