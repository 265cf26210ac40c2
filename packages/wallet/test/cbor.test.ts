import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { BadCbor, type Plain, readCbor, writeCbor } from "../src/cbor.ts";

const { plain } = fc.letrec<{ plain: Plain }>((tie) => ({
  plain: fc.oneof(
    { maxDepth: 4 },
    fc.constantFrom(undefined, null, true, false),
    fc.integer(),
    fc.maxSafeInteger(),
    fc.double({ noNaN: true }),
    fc.bigInt({ min: 0n, max: (1n << 64n) - 1n }),
    fc.string({ unit: "grapheme" }),
    fc.uint8Array({ maxLength: 300 }),
    fc.array(tie("plain"), { maxLength: 5 }),
    fc.dictionary(
      fc.string().filter((name) => name !== "__proto__"),
      tie("plain"),
      { maxKeys: 5, noNullPrototype: true },
    ),
    fc.array(fc.tuple(fc.string(), tie("plain")), { maxLength: 5 }).map((entries) => new Map(entries)),
  ),
}));

test("plain data reads back as what it was", () => {
  fc.assert(
    fc.property(plain, (value) => {
      assert.deepEqual(readCbor(writeCbor(value)), value);
    }),
    { numRuns: 300 },
  );
});

test("small numbers stay numbers and amounts stay bigints", () => {
  assert.equal(readCbor(writeCbor(5)), 5);
  assert.equal(readCbor(writeCbor(5n)), 5n);
  assert.equal(readCbor(writeCbor((1n << 64n) - 1n)), (1n << 64n) - 1n);
});

test("any other bytes are refused as such, never with another error", () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 64 }), (bytes) => {
      try {
        readCbor(bytes);
      } catch (error) {
        assert.ok(error instanceof BadCbor, String(error));
      }
    }),
    { numRuns: 2000 },
  );
});

test("a class instance or an amount beyond 64 bits is not written", () => {
  assert.throws(() => writeCbor(new Date() as unknown as Plain), TypeError);
  assert.throws(() => writeCbor(1n << 64n), TypeError);
  assert.throws(() => writeCbor(JSON.parse('{"__proto__": 1}') as Plain), TypeError);
});
